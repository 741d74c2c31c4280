import type { JsonObject } from "../../../dialects/core/types.ts";
import { isObject, number, object, objects, text } from "../../../dialects/core/read.ts";
import { bearer } from "../../core/bearer.ts";
import { general } from "../../core/errors/classify.ts";
import { joinUrl } from "../../core/join-url.ts";
import { bearerHeaders, getJson } from "../../core/model-list.ts";
import { openaiCompatible } from "../../core/openai-compatible.ts";
import { onEvent } from "../../core/response-transforms/each-choice.ts";
import { thinkingOff } from "../../core/request-transforms/thinking-off.ts";
import { reasoningName } from "../../core/response-transforms/reasoning-name.ts";
import type { ResponseTransform, ChannelRecord, HttpJson, RequestTransform } from "../../core/types.ts";
import type { FailedAnswer, UpstreamError } from "../../core/failed-answer.ts";
import { upstreamError } from "../../core/errors/upstream-error.ts";

const BASE = "https://openrouter.ai/api";

/** Models that can be instructed not to think; others refuse the instruction. */
const HYBRID = /claude|flash|qwen3|glm-|kimi-k2\.[5-9]|deepseek-(?:chat|v)/;

const reasoningObject: RequestTransform = {
  name: "effort inside the reasoning object",
  rewords: ["reasoning_effort"],
  apply(body) {
    const { reasoning_effort: effort, ...rest } = body;
    if (typeof effort !== "string") return body;
    return { ...rest, reasoning: { effort, ...object(body, "reasoning") } };
  },
};

/**
 * Reads a failure in the middle of a stream: a chunk with an `error` next to its choices, or inside the first choice.
 */
const errorChunk: ResponseTransform = {
  name: "error chunks",
  marks: ['"error"'],
  stream: () =>
    onEvent((chunk) => {
      const error = object(chunk, "error") ?? readChoiceError(chunk);
      return error !== undefined && chunk["choices"] !== undefined ? { error } : chunk;
    }),
};

function readChoiceError(answer: JsonObject): JsonObject | undefined {
  return object(objects(answer, "choices")[0], "error");
}

export const openrouter = openaiCompatible({
  type: 20,
  id: "openrouter",
  label: "OpenRouter",
  baseUrl: BASE,
  models: [],
  operations: ["chat", "completions", "responses", "embeddings"],
  streamUsage: false,
  chatServer: { takesTopK: true },
  requestTransforms: [thinkingOff(HYBRID, { reasoning_effort: "none" }), reasoningObject],
  responseTransforms: [reasoningName, errorChunk],
  authorize(call, channel, context) {
    bearer(call, channel, context);
    if (context.publicUrl) call.headers["http-referer"] = context.publicUrl;
    call.headers["x-title"] = "Fairway";
  },
  classify: readOpenRouter,
  balance,
  keyHint: "sk-or-v1-...",
});

/**
 * Reads a failure. A 403 is moderation, and a 402 with a time to wait is a budget for concurrent requests; neither is
 * the key's fault.
 */
function readOpenRouter(answer: FailedAnswer): UpstreamError | undefined {
  const json = answer.body.includes('"error"') && isObject(answer.json) ? answer.json : undefined;
  if (!json) return undefined;
  const inChoice = answer.status < 400 ? readChoiceError(json) : undefined;
  return inChoice ? general(answer, { error: inChoice }) : readError(answer, object(json, "error"));
}

function readError(answer: FailedAnswer, error: JsonObject | undefined): UpstreamError | undefined {
  const status = answer.status >= 400 ? answer.status : number(error, "code");
  if (!error || (status !== 402 && status !== 403)) return undefined;
  const { message, retryAfterMs } = general({ ...answer, status }, answer.json);
  if (status === 403)
    return isModeration(error) ? upstreamError({ class: "content_filter", message, status }) : undefined;
  return retryAfterMs === undefined
    ? undefined
    : upstreamError({ class: "rate_limit", message, status: 429, retryAfterMs });
}

function isModeration(error: JsonObject): boolean {
  const metadata = object(error, "metadata");
  const isNamed = /moderat|guardrail|content/i.test(text(metadata, "error_type") ?? "");
  return isNamed || metadata?.["reasons"] !== undefined || metadata?.["patterns"] !== undefined;
}

/** Returns the remaining amount of the key or, if the key has no limit, of the account. */
async function balance(channel: ChannelRecord, key: string, http: HttpJson): Promise<number> {
  const read = async (path: string): Promise<JsonObject> => {
    const json = await getJson(http, joinUrl(channel.baseUrl || BASE, path).href, bearerHeaders(key));
    return (isObject(json) ? object(json, "data") : undefined) ?? {};
  };
  const left = number(await read("/v1/key"), "limit_remaining");
  if (left !== undefined) return left;
  const credits = await read("/v1/credits");
  const total = number(credits, "total_credits");
  if (total === undefined) throw new Error("the upstream's answer holds no balance");
  return total - (number(credits, "total_usage") ?? 0);
}
