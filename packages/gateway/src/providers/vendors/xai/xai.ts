import type { JsonObject } from "../../../dialects/core/types.ts";
import { count, isObject, object } from "../../../dialects/core/read.ts";
import { general } from "../../core/errors/classify.ts";
import { asObject, asText, codeText } from "../../core/errors/error-body.ts";
import { clamped, renamed, omitMembers } from "../../../dialects/core/json-edit.ts";
import { hasResponses, openaiCompatible } from "../../core/openai-compatible.ts";
import { thinkingOff } from "../../core/request-transforms/thinking-off.ts";
import { onEvent } from "../../core/response-transforms/each-choice.ts";
import type { ResponseTransform, ProviderAdapter, RequestTransform } from "../../core/types.ts";
import type { FailedAnswer, UpstreamError } from "../../core/failed-answer.ts";
import { upstreamError } from "../../core/errors/upstream-error.ts";

const EFFORT: Readonly<Record<string, string>> = { minimal: "low", xhigh: "high", max: "high" };

const params: RequestTransform = {
  name: "parameters of xAI",
  apply(body, _spec, upstreamModel) {
    const [, name = upstreamModel, suffix] = /^(grok-3-mini.*)-(high|medium|low)$/.exec(upstreamModel) ?? [];
    const asked = suffix === undefined ? body : { ...body, model: name, reasoning_effort: suffix };
    const preserved = omitMembers(renamed(asked, "max_tokens", "max_completion_tokens"), ["search_parameters"]);
    const fitting = isReasoning(name)
      ? omitMembers(preserved, ["stop", "presence_penalty", "frequency_penalty"])
      : preserved;
    const limited = clamped(effortFor(fitting, name), "top_logprobs", 0, MAX_LOGPROBS);
    return renamed(limited, "parallel_tool_calls", "parallel_function_calling");
  },
};

const MAX_LOGPROBS = 8;

function isReasoning(model: string): boolean {
  return /^grok-(?:3-mini|[4-9]|build)/.test(model);
}

/** Returns the effort that the model takes: grok-4 of July 2025 and the dated 4.20 models refuse every effort. */
function effortFor(body: JsonObject, model: string): JsonObject {
  const effort = body["reasoning_effort"];
  if (typeof effort !== "string") return body;
  if (/^grok-4(?:-0709|-20\d*)?$|^grok-4\.20-/.test(model) || !isReasoning(model))
    return omitMembers(body, ["reasoning_effort"]);
  const known = effort === "xhigh" && model.startsWith("grok-4.6") ? effort : (EFFORT[effort] ?? effort);
  return known === effort ? body : { ...body, reasoning_effort: known };
}

const SIZES = ["size", "quality", "style"];

const images: RequestTransform = {
  name: "images without size, quality and style",
  on: ["openai-images"],
  apply: (body) => omitMembers(body, SIZES),
};

/**
 * Corrects the usage: completion tokens do not include the reasoning, and prompt tokens may not include cached ones.
 */
const usage: ResponseTransform = {
  name: "usage with reasoning",
  marks: ['"usage":{', '"usage": {'],
  answer: withUsage,
  stream: () => onEvent(withUsage),
};

function withUsage(body: JsonObject): JsonObject {
  const said = object(body, "usage");
  const completion = count(said, "completion_tokens");
  const prompt = count(said, "prompt_tokens");
  if (!said || completion === undefined || prompt === undefined) return body;
  const cached = count(object(said, "prompt_tokens_details"), "cached_tokens") ?? 0;
  const input = cached > prompt ? prompt + cached : prompt;
  const output = Math.max(completion, countOutputTokens(said, prompt, completion));
  if (input === prompt && output === completion) return body;
  return { ...body, usage: { ...said, prompt_tokens: input, completion_tokens: output, total_tokens: input + output } };
}

/** Returns the output tokens: the total minus the prompt; without a total, completion plus reasoning. */
function countOutputTokens(said: JsonObject, prompt: number, completion: number): number {
  const total = count(said, "total_tokens");
  if (total !== undefined) return total - prompt;
  return completion + (count(object(said, "completion_tokens_details"), "reasoning_tokens") ?? 0);
}

/** Reads `{code, error: "text"}`: only the sentence distinguishes a bad key from an empty account. */
function readXai(answer: FailedAnswer): UpstreamError | undefined {
  const sentence = answer.body.includes('"error"') && isObject(answer.json) ? asText(answer.json["error"]) : undefined;
  if (sentence === undefined) return undefined;
  const { status } = answer;
  const read = general(answer, answer.json);
  if (/api key/i.test(sentence)) return upstreamError({ class: "bad_key", status, message: read.message });
  if (/credits|licenses|spending limit/i.test(sentence))
    return upstreamError({ class: "out_of_credit", ...preserved(status), message: read.message });
  if (status !== 200) return undefined;
  return /unavailable|capacity|overloaded/i.test(`${read.message} ${codeText(asObject(answer.json)?.["code"])}`)
    ? upstreamError({ class: "overloaded", message: read.message })
    : read;
}

/** Returns the upstream's status, except 200: then the failure gets the status of its class. */
function preserved(status: number): { readonly status?: number } {
  return status === 200 ? {} : { status };
}

const compatible = openaiCompatible({
  type: 48,
  id: "xai",
  telemetryName: "x_ai",
  label: "xAI",
  baseUrl: "https://api.x.ai",
  models: [
    "grok-4.6",
    "grok-4.5",
    "grok-4.3",
    "grok-4.20-0309-reasoning",
    "grok-4.20-0309-non-reasoning",
    "grok-4.20-multi-agent-0309",
    "grok-build-0.1",
    "grok-imagine-image",
    "grok-imagine-image-quality",
    "grok-3-beta",
    "grok-3-mini-beta",
    "grok-3-fast-beta",
    "grok-3-mini-fast-beta",
    "grok-2-image",
    "grok-2",
    "grok-2-vision",
    "grok-beta",
    "grok-vision-beta",
  ],
  operations: ["chat", "completions", "responses", "embeddings", "images.generations"],
  requestTransforms: [thinkingOff(/^grok-(?:3-mini|4\.|[5-9]|build)/, { reasoning_effort: "low" }), params, images],
  responseTransforms: [usage],
  classify: readXai,
  keyHint: "xai-...",
});

/** True for multi-agent models, which answer only on the Responses API. */
const isTeam = (model: string) => model.includes("multi-agent");

export const xai: ProviderAdapter = {
  ...compatible,
  speaks: compatible.speaks.map((route) =>
    route.operation === "chat"
      ? { ...route, when: (_spec, model, channel) => !isTeam(model) || !hasResponses(channel, true) }
      : route,
  ),
};
