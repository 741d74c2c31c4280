import { capAt } from "../../../dialects/core/requested-output.ts";
import { bearer } from "../../core/bearer.ts";
import { general } from "../../core/errors/classify.ts";
import { completionsBridge } from "./completions.ts";
import { imageBridge, imageExchange } from "./images.ts";
import { CLOUDFLARE_MODELS } from "./models.ts";
import { transcriptionExchange } from "./transcription.ts";
import { asList, asNumber, asObject } from "../../core/errors/error-body.ts";
import { joinUrl } from "../../core/join-url.ts";
import { bearerHeaders, getJson, namesIn } from "../../core/model-list.ts";
import { hasResponses, openaiRoute, type CompatibleOperation } from "../../core/openai-compatible.ts";
import { reasoningName } from "../../core/response-transforms/reasoning-name.ts";
import { usageOnFinish } from "../../core/response-transforms/usage-on-finish.ts";
import type { ChannelRecord, HttpJson, ProviderAdapter, UpstreamRoute } from "../../core/types.ts";
import type { ErrorClass, FailedAnswer, UpstreamError } from "../../core/failed-answer.ts";
import { upstreamError } from "../../core/errors/upstream-error.ts";

const BASE = "https://api.cloudflare.com";
const AI_GATEWAY = "gateway.ai.cloudflare.com";

/** Splits the key, which may start with the account: `account id|token`. */
function credentials({ other }: ChannelRecord, key: string): { readonly account: string; readonly token: string } {
  const cut = key.indexOf("|");
  const token = key.slice(cut + 1);
  return { account: other === "" && cut > 0 ? key.slice(0, cut) : other, token };
}

/** Returns the root of the paths. Behind the AI gateway, the base URL already names account and product. */
function root(channel: ChannelRecord, key: string): string {
  const { account } = credentials(channel, key);
  return channel.baseUrl.includes(AI_GATEWAY) ? "" : `/client/v4/accounts/${encodeURIComponent(account)}/ai`;
}

function compatible(operation: CompatibleOperation, task: string): UpstreamRoute {
  return openaiRoute(operation, (_spec, _model, channel, key) => `${root(channel, key)}/v1/${task}`);
}

/** Returns the path of a model; the slashes of its name are part of the path. */
function run(_spec: unknown, model: string, channel: ChannelRecord, key: string): string {
  return `${root(channel, key)}${channel.baseUrl.includes(AI_GATEWAY) ? "" : "/run"}/${model.split("/").map(encodeSegment).join("/")}`;
}

function encodeSegment(segment: string): string {
  return encodeURIComponent(segment).replaceAll("%40", "@");
}

/** https://developers.cloudflare.com/workers-ai/platform/errors/ */
const CLASSES: Readonly<Record<number, ErrorClass>> = {
  5007: "not_found",
  3042: "not_found",
  5018: "bad_key",
  3041: "bad_key",
  5016: "bad_key",
  3023: "bad_key",
  10000: "bad_key",
  7000: "bad_key",
  7003: "bad_key",
  3036: "out_of_credit",
  3040: "overloaded",
  3007: "timeout",
  3008: "timeout",
  3006: "bad_request",
  3003: "bad_request",
  5004: "bad_request",
};

const AUTHENTICATION = 10_000;

function readCloudflare(answer: FailedAnswer): UpstreamError | undefined {
  const code = asNumber(asObject(asList(asObject(answer.json)?.["errors"])[0])?.["code"]);
  const errorClass = code === undefined ? undefined : CLASSES[code];
  if (!errorClass) return undefined;
  const isAllowance = code === 5016 || code === 3023;
  const status = answer.status >= 400 ? answer.status : undefined;
  const isRefused = errorClass === "bad_key" && status === 403 && code !== AUTHENTICATION;
  return upstreamError({
    class: errorClass,
    message: general(answer, answer.json).message,
    ...(status === undefined ? {} : { status }),
    ...(isAllowance ? { disable: false } : {}),
    ...(isRefused ? { type: "permission_error", code: "permission_denied" } : {}),
  });
}

async function listModels(channel: ChannelRecord, key: string, http: HttpJson): Promise<string[]> {
  const url = joinUrl(channel.baseUrl || BASE, `${root(channel, key)}/models/search?per_page=1000`);
  const { token } = credentials(channel, key);
  return namesIn(await getJson(http, url.href, bearerHeaders(token)), "result", "name");
}

export const cloudflare: ProviderAdapter = {
  type: 39,
  id: "cloudflare",
  label: "Cloudflare",
  baseUrl: BASE,
  speaks: [
    {
      operation: "completions",
      dialect: "private:cloudflare-text",
      path: run,
      when: (ask) => ask.operation === "completions",
    },
    compatible("chat", "chat/completions"),
    { ...compatible("responses", "responses"), when: (_spec, _model, channel) => hasResponses(channel, false) },
    compatible("embeddings", "embeddings"),
    { ...openaiRoute("audio.transcriptions", run), exchange: transcriptionExchange },
    {
      operation: "images.generations",
      dialect: "private:cloudflare-image",
      path: run,
      when: (ask) => ask.operation === "images.generations",
      exchange: imageExchange,
    },
  ],
  authorize: (call, channel, context) =>
    bearer(call, channel, { ...context, key: credentials(channel, context.key).token }),
  models: CLOUDFLARE_MODELS,
  ownedBy: "cloudflare",
  streamUsage: true,
  requestedOutput: { "private:cloudflare-text": capAt("max_tokens") },
  bridges: [imageBridge, completionsBridge],
  responseTransforms: [usageOnFinish, reasoningName],
  classify: readCloudflare,
  listModels,
  keyHint: "token, or account id|token",
  otherHint: "Account id",
};
