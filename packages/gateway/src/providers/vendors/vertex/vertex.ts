import { imagesAt } from "../../../dialects/core/requested-output.ts";
import type { RequestSpec, JsonObject } from "../../../dialects/core/types.ts";
import { isObject } from "../../../lib/text/json.ts";
import { FILTERS, messagesFilter } from "../anthropic/filter.ts";
import { ownRuns } from "../anthropic/own-runs.ts";
import { findSmallestPrefix } from "../anthropic/smallest-prefix.ts";
import { thinkingSuffix } from "../anthropic/thinking-suffix.ts";
import { readGoogle } from "../google/errors.ts";
import { imageBridge, isImagen } from "../google/images.ts";
import { pictured } from "../google/pictured.ts";
import { eachObject, omitMembers } from "../../../dialects/core/json-edit.ts";
import { openaiRoute } from "../../core/openai-compatible.ts";
import { withFreshToken } from "../../core/private/fresh-token.ts";
import { VERTEX_MODELS } from "./models.ts";
import { claudeName, place } from "./place.ts";
import { embedBridge, embedExchange, isEmbedding } from "./embeddings.ts";
import { accessToken, dropToken, serviceAccount } from "./token.ts";
import type {
  ChannelRecord,
  Exchange,
  ProviderAdapter,
  RequestTransform,
  SigningContext,
  UpstreamCall,
  UpstreamRoute,
} from "../../core/types.ts";

const CLAUDE_VERSION = "vertex-2023-10-16";

const isClaude = (model: string) => model.startsWith("claude");
/** The number of an endpoint that the operator deployed. */
const ENDPOINT = /^(?:endpoints\/)?(\d+)$/;
const isOpen = (model: string) => model.includes("/") && !ENDPOINT.test(model);

/** Fetches a token that was revoked before its expiry again, once. */
const once: Exchange = withFreshToken(
  (answer) => answer.status === 401,
  sign,
  ({ key }) => dropToken(key),
);

function route(
  parts: Pick<UpstreamRoute, "operation" | "dialect"> & Partial<UpstreamRoute>,
  tail: (spec: RequestSpec, model: string) => string,
  fits: (model: string) => boolean,
): UpstreamRoute {
  return {
    exchange: once,
    ...parts,
    path: (spec, model, channel, key) => place(channel, spec, key, tail(spec, model)),
    when: (spec, model) =>
      fits(model) && (parts.operation !== "images.generations" || spec.operation === parts.operation),
  };
}

const google = (model: string, verb: string) => {
  const endpoint = ENDPOINT.exec(model)?.[1];
  return endpoint === undefined
    ? `publishers/google/models/${encodeURIComponent(model)}:${verb}`
    : `endpoints/${endpoint}:${verb}`;
};
const claude = (model: string, verb: string) => `publishers/anthropic/models/${claudeName(model)}:${verb}`;
const isGoogle = (model: string) => !isClaude(model) && !isOpen(model);

const claudeBody: RequestTransform = {
  name: "Claude on Vertex",
  on: ["anthropic-messages"],
  apply: (body) => {
    const { model: _model, ...rest } = body;
    return { anthropic_version: CLAUDE_VERSION, ...rest };
  },
};

const countBody: RequestTransform = {
  name: "dated names for counting",
  on: ["anthropic-count-tokens"],
  apply: (body, _spec, upstreamModel) => ({ ...body, model: claudeName(upstreamModel) }),
};

/** Adds roles, which are required, and removes ids of function calls, which are refused. */
const geminiBody: RequestTransform = {
  name: "Gemini on Vertex",
  on: ["gemini-generate"],
  apply: (body) =>
    eachObject(body, "contents", (content) => {
      const named = content["role"] === undefined ? { role: "user", ...content } : content;
      return eachObject(named, "parts", (part) => withoutId(withoutId(part, "functionCall"), "functionResponse"));
    }),
};

function withoutId(part: JsonObject, member: string): JsonObject {
  const value = part[member];
  return isObject(value) && value["id"] !== undefined ? { ...part, [member]: omitMembers(value, ["id"]) } : part;
}

export const vertex: ProviderAdapter = {
  type: 41,
  id: "vertex",
  telemetryName: "gcp.vertex_ai",
  label: "Vertex AI",
  settings: { safety_settings: "objects", parameters_json_schema: "flag", filters: FILTERS },
  baseUrl: "",
  // The paths are whole URLs, whose host follows from the region.
  base: () => "",
  otherUrls: (_channel, key) => {
    const account = serviceAccount(key);
    return account ? [account.tokenUri] : [];
  },
  speaks: [
    route(
      { operation: "chat", dialect: "gemini-generate", inlinesImages: true },
      (spec, model) => google(model, spec.stream ? "streamGenerateContent?alt=sse" : "generateContent"),
      isGoogle,
    ),
    route(
      { operation: "chat", dialect: "anthropic-messages", inlinesImages: true },
      (spec, model) => claude(model, spec.stream ? "streamRawPredict" : "rawPredict"),
      isClaude,
    ),
    route(openaiRoute("chat"), () => "endpoints/openapi/chat/completions", isOpen),
    route(
      { operation: "count_tokens", dialect: "gemini-count-tokens" },
      (_spec, model) => google(model, "countTokens"),
      isGoogle,
    ),
    route(
      { operation: "count_tokens", dialect: "anthropic-count-tokens" },
      () => "publishers/anthropic/models/count-tokens:rawPredict",
      isClaude,
    ),
    route(
      { operation: "embeddings", dialect: "private:vertex-embed", exchange: embedExchange },
      (_spec, model) => google(model, "predict"),
      isEmbedding,
    ),
    route(
      { operation: "images.generations", dialect: "private:google-images", exchange: pictured(once) },
      (_spec, model) => google(model, isImagen(model) ? "predict" : "generateContent"),
      isGoogle,
    ),
  ],
  authorize: sign,
  models: VERTEX_MODELS,
  ownedBy: "vertex-ai",
  billsRefusals: true,
  streamUsage: true,
  bridges: [embedBridge, imageBridge],
  requestedOutput: { "private:google-images": imagesAt("parameters.sampleCount") },
  requestTransforms: [thinkingSuffix, ownRuns, claudeBody, countBody, geminiBody],
  hostFilter: messagesFilter(() => "vertex"),
  cacheMarks: { "anthropic-messages": findSmallestPrefix },
  classify: readGoogle,
  hasKeyFile: true,
  hasRegions: true,
  keyHint: "Service account key file (JSON), or an API key",
  otherHint: 'Region, us-central1 when empty, or {"model": "region", "default": "region"}',
};

async function sign(
  call: UpstreamCall,
  _channel: ChannelRecord,
  { key, now, http, clientHeaders }: SigningContext,
): Promise<void> {
  const beta = clientHeaders["anthropic-beta"];
  if (beta !== undefined && call.url.pathname.includes("/publishers/anthropic/")) call.headers["anthropic-beta"] = beta;
  const account = serviceAccount(key);
  if (account) call.headers["authorization"] = `Bearer ${await accessToken(key, account, now, http)}`;
  else call.headers["x-goog-api-key"] = key;
}
