import type { JsonObject } from "../../../dialects/core/types.ts";
import { count, isObject, object, text } from "../../../dialects/core/read.ts";
import { clamped, eachObject, renamed, omitMembers } from "../../../dialects/core/json-edit.ts";
import { developerToSystem } from "../../core/request-transforms/roles.ts";
import { eachChoice, eachMessage, finishReasons, onEvent } from "../../core/response-transforms/each-choice.ts";
import { thinkingOff } from "../../core/request-transforms/thinking-off.ts";
import type { ResponseTransform, RequestTransform, UpstreamRoute } from "../../core/types.ts";
import { openaiRoute } from "../../core/openai-compatible.ts";

const REFUSED = ["frequency_penalty", "presence_penalty", "logit_bias", "logprobs", "top_logprobs", "n"];

export const v4Routes: readonly UpstreamRoute[] = [
  openaiRoute("chat", "/api/paas/v4/chat/completions"),
  openaiRoute("embeddings", "/api/paas/v4/embeddings"),
  openaiRoute("images.generations", "/api/paas/v4/images/generations"),
];

const chatParams: RequestTransform = {
  name: "parameters of GLM",
  apply(body, _spec, upstreamModel) {
    const asked = renamed(developerToSystem(body), "max_completion_tokens", "max_tokens");
    const known = renamed(omitMembers(asked, [...REFUSED, "stream_options"]), "user", "user_id");
    const bounded = clamped(clamped(known, "top_p", 0.01, 0.99), "temperature", 0, 1);
    const listed = typeof bounded["stop"] === "string" ? { ...bounded, stop: [bounded["stop"]] } : bounded;
    return eachObject(listed, "messages", (message) => messageFor(message, upstreamModel));
  },
};

/** Adapts a message: the first vision models take base64 without the data URL around it. */
function messageFor(message: JsonObject, model: string): JsonObject {
  const known = message["role"] === "function" ? { ...message, role: "tool" } : message;
  if (!/^glm-4v(?:-|$)/.test(model)) return known;
  return eachObject(known, "content", (part) => {
    const image = object(part, "image_url");
    const url = text(image, "url");
    return url?.startsWith("data:") ? { ...part, image_url: { ...image, url: url.slice(url.indexOf(",") + 1) } } : part;
  });
}

const imageParams: RequestTransform = {
  name: "image parameters of CogView",
  on: ["openai-images"],
  apply: (body) => renamed(omitMembers(body, ["n", "response_format"]), "user", "user_id"),
};

const switchedOff = thinkingOff(/^glm-(?:4\.[5-9]|[5-9])/, { thinking: { type: "disabled" } });

export const v4RequestTransforms: readonly RequestTransform[] = [switchedOff, chatParams, imageParams];

const stopNames = finishReasons({
  sensitive: "content_filter",
  network_error: "stop",
  model_context_window_exceeded: "length",
});

/** Adds `object` and the finish reasons of unfinished choices, which older models leave out. */
export const v4Repair: ResponseTransform = {
  name: "shape of GLM answers",
  answer: (body) => complete(body, "chat.completion"),
  stream: () =>
    onEvent((chunk) => (Array.isArray(chunk["choices"]) ? complete(numbered(chunk), "chat.completion.chunk") : chunk)),
};

/** Numbers the pieces of calls: clients join them by this number, which some models leave out. */
function numbered(chunk: JsonObject): JsonObject {
  return eachMessage(chunk, (delta) =>
    eachObject(delta, "tool_calls", (call, index) => (call["index"] === undefined ? { index, ...call } : call)),
  );
}

function complete(body: JsonObject, kind: string): JsonObject {
  const named = eachChoice(cachedTokens(omitMembers(stopNames(body), ["request_id"])), (choice) =>
    choice["finish_reason"] === undefined ? { ...choice, finish_reason: null } : choice,
  );
  if (named["object"] !== undefined || !Array.isArray(named["choices"])) return named;
  const { id, ...rest } = named;
  return { id, object: kind, ...rest };
}

function cachedTokens(body: JsonObject): JsonObject {
  const usage = object(body, "usage");
  const cached = count(usage, "cached_tokens");
  if (!usage || cached === undefined || isObject(usage["prompt_tokens_details"])) return body;
  return { ...body, usage: { ...usage, prompt_tokens_details: { cached_tokens: cached } } };
}
