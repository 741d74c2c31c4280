import { imagesAt } from "../../../dialects/core/requested-output.ts";
import { isObject, list, objects, text } from "../../../dialects/core/read.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { parseObject } from "../../../lib/text/json.ts";
import { readGoogle } from "../google/errors.ts";
import { embedExchange } from "../google/embeddings.ts";
import { imageBridge, isImagen } from "../google/images.ts";
import { GEMINI_MODELS } from "../google/models.ts";
import { pictured } from "../google/pictured.ts";
import { joinUrl, withoutEnd } from "../../core/join-url.ts";
import { getJson, namesIn } from "../../core/model-list.ts";
import type {
  ChannelRecord,
  HttpJson,
  ProviderAdapter,
  SigningContext,
  UpstreamCall,
  UpstreamRoute,
} from "../../core/types.ts";

const MAX_PAGES = 20;
const SERVED: ReadonlySet<string> = new Set(["generateContent", "embedContent", "predict"]);
const BASE = "https://generativelanguage.googleapis.com";
/** The end of a pasted base URL that is of the OpenAI-compatible API. */
const PASTED_END = /(?<=\/v1(?:alpha|beta)?)\/openai$/;

/**
 * Returns the path of a model. Names may have the form in which the vendor lists them: `models/…`, or `tunedModels/…`,
 * which is a separate collection.
 */
function modelPath(channel: ChannelRecord, named: string, verb: string): string {
  const [, list = "models", model = named] = /^(models|tunedModels)\/(.+)$/.exec(named) ?? [];
  return `/${channel.other === "" ? "v1beta" : encodeURIComponent(channel.other)}/${list}/${encodeURIComponent(model)}:${verb}`;
}

function verbPath(verb: string): UpstreamRoute["path"] {
  return (_spec, model, channel) => modelPath(channel, model, verb);
}

export const gemini: ProviderAdapter = {
  type: 24,
  id: "gemini",
  telemetryName: "gcp.gemini",
  label: "Google Gemini",
  settings: { safety_settings: "objects", parameters_json_schema: "flag" },
  baseUrl: BASE,
  pastedEnd: PASTED_END,
  speaks: [
    {
      operation: "chat",
      dialect: "gemini-generate",
      path: (ask, model, channel) =>
        modelPath(channel, model, ask.stream ? "streamGenerateContent?alt=sse" : "generateContent"),
      inlinesImages: true,
    },
    { operation: "count_tokens", dialect: "gemini-count-tokens", path: verbPath("countTokens") },
    { operation: "embeddings", dialect: "gemini-embed", path: verbPath("embedContent"), exchange: embedExchange },
    {
      operation: "images.generations",
      dialect: "private:google-images",
      path: (_spec, model, channel) => modelPath(channel, model, isImagen(model) ? "predict" : "generateContent"),
      when: (ask) => ask.operation === "images.generations",
      exchange: pictured((call, context) => context.send(call)),
    },
  ],
  authorize: sign,
  files: {
    dialect: "gemini",
    path: "/v1beta/files",
    uploadPath: "/upload/v1beta/files",
    unsettledStates: ["processing"],
  },
  caches: { dialect: "gemini", path: "/v1beta/cachedContents", storagePrice },
  batches: { protocol: "gemini", path: "/v1beta/batches", maxItems: 200_000, maxBytes: 2 * 1024 ** 3 },
  models: GEMINI_MODELS,
  ownedBy: "google gemini",
  billsRefusals: true,
  streamUsage: false,
  bridges: [imageBridge],
  requestedOutput: { "private:google-images": imagesAt("parameters.sampleCount") },
  classify: readGoogle,
  listModels,
  keyHint: "AIza...",
  otherHint: "API version, default v1beta",
};

/** Not read from the vendor's own list yet; the operator's prices take precedence. */
function storagePrice(model: string): string | undefined {
  if (/flash/i.test(model)) return "1";
  return /pro/i.test(model) ? "4.5" : undefined;
}

/** Puts the key into a header and never into the URL, which would appear in logs. */
function sign(call: UpstreamCall, _channel: ChannelRecord, { key }: SigningContext): void {
  call.headers["x-goog-api-key"] = key;
  nameBatch(call);
}

/** Sets the verb of the path: one request and a list of requests have different ones. */
function nameBatch(call: UpstreamCall): void {
  if (!call.url.pathname.endsWith(":embedContent") || !call.body) return;
  const isBatch = Array.isArray(parseObject(call.body.toString("utf8"))?.["requests"]);
  if (isBatch) call.url.pathname = call.url.pathname.replace(/:embedContent$/, ":batchEmbedContents");
}

async function listModels(channel: ChannelRecord, key: string, http: HttpJson): Promise<string[]> {
  const version = channel.other === "" ? "v1beta" : channel.other;
  const url = joinUrl(withoutEnd(channel.baseUrl, PASTED_END) || BASE, `/${version}/models?pageSize=1000`);
  const names: string[] = [];
  for (let page = 0; page < MAX_PAGES; page++) {
    const json = await getJson(http, url.href, { "x-goog-api-key": key });
    names.push(
      ...namesIn(isObject(json) ? { models: objects(json, "models").filter(isServed) } : json, "models", "name"),
    );
    const next = isObject(json) ? text(json, "nextPageToken") : undefined;
    if (!next) break;
    url.searchParams.set("pageToken", next);
  }
  return names.map((name) => name.replace(/^models\//, ""));
}

/** False for live and tuning models, which have no route here. */
function isServed(model: JsonObject): boolean {
  const methods = list(model, "supportedGenerationMethods");
  return methods.length === 0 || methods.some((method) => typeof method === "string" && SERVED.has(method));
}
