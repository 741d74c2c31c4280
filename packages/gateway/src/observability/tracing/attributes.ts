// Names of the OpenTelemetry semantic conventions for generative AI, in the two versions that back ends support.
import { keyNumber } from "@fairway/wire";
import type { Attributes } from "@opentelemetry/api";
import type { AttemptEnd, AttemptStart, CallEnd, CallStart, ExchangeFacts, RequestParameters } from "./call-span.ts";

/** Names of the vendor: `gen_ai.system`, `gen_ai.provider.name`, or both for back ends that read either. */
export type GenAiConvention = "1.36" | "1.37" | "both";

/** Operations that the conventions define; others use the name of their endpoint. */
const OPERATION_NAMES: Readonly<Record<string, string>> = {
  chat: "chat",
  responses: "chat",
  completions: "text_completion",
  embeddings: "embeddings",
};

/** Returns the operation name of the GenAI conventions. */
export function operationName(operation: string): string {
  return OPERATION_NAMES[operation] ?? operation;
}

/** Returns the attributes of a client's call at its start. */
export function callAttributes(call: CallStart): Attributes {
  return {
    "gen_ai.operation.name": operationName(call.operation),
    "gen_ai.request.model": call.model,
    "http.request.method": "POST",
    "url.path": call.path,
    "fairway.request_id": call.requestId,
    "fairway.user.id": call.userId,
    "fairway.token.id": call.tokenId,
    "fairway.group": call.group,
    "fairway.stream": call.isStream,
    ...describeTags(call),
  };
}

function describeTags({ tags, endUser }: CallStart): Attributes {
  const attributes: Attributes = {};
  for (const [key, value] of tags ?? []) attributes[`fairway.tag.${key}`] = value;
  if (endUser !== undefined && endUser !== "") attributes["fairway.end_user"] = endUser;
  return attributes;
}

/** Returns the attributes of a client's call at its end; unknown ones are missing. */
export function endAttributes(end: CallEnd): Attributes {
  return withoutBlanks({
    "http.response.status_code": end.status,
    "gen_ai.usage.input_tokens": end.inputTokens,
    "gen_ai.usage.output_tokens": end.outputTokens,
    "error.type": end.errorCode,
    "fairway.outcome": end.outcome,
    "fairway.quota": end.quota,
    "fairway.first_token_ms": end.firstTokenMs,
  });
}

/** Returns the usage that belongs to the upstream call that delivered the answer. */
export function usageAttributes(end: CallEnd): Attributes {
  return withoutBlanks({
    "gen_ai.usage.input_tokens": end.inputTokens,
    "gen_ai.usage.output_tokens": end.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": end.cachedInputTokens || undefined,
    "gen_ai.usage.cache_write.input_tokens": end.cacheWriteTokens || undefined,
    // The name that version 1.40 of the conventions had for it.
    "gen_ai.usage.cache_creation.input_tokens": end.cacheWriteTokens || undefined,
    "gen_ai.usage.reasoning.output_tokens": end.reasoningTokens || undefined,
    "gen_ai.response.time_to_first_chunk":
      end.upstreamFirstTokenMs === undefined ? undefined : end.upstreamFirstTokenMs / 1_000,
  });
}

/** Returns the attributes of one upstream call at its start. */
export function attemptAttributes(attempt: AttemptStart, operation: string, convention: GenAiConvention): Attributes {
  return {
    "gen_ai.operation.name": operationName(operation),
    ...(convention !== "1.37" && { "gen_ai.system": attempt.provider }),
    ...(convention !== "1.36" && { "gen_ai.provider.name": attempt.provider }),
    "gen_ai.request.model": attempt.upstreamModel,
    "fairway.channel.id": attempt.channelId,
    "fairway.channel.name": attempt.channelName,
    "fairway.channel.key": keyNumber(attempt.keyIndex),
    // The conventions name it only where it is true.
    ...(attempt.isStream === true && { "gen_ai.request.stream": true }),
  };
}

/** Returns the attributes of one upstream call at its end; unknown ones are missing. */
export function attemptEndAttributes(end: AttemptEnd): Attributes {
  const { status, host, upstreamRequestId, errorCode, exchange } = end;
  const [, name = "", port] = /^(.*?)(?::(\d+))?$/.exec(host) ?? [];
  return withoutBlanks({
    "server.address": name === "" ? undefined : name,
    "server.port": port === undefined ? undefined : Number(port),
    "http.response.status_code": status === 0 ? undefined : status,
    "error.type": errorCode,
    "fairway.upstream_request_id": upstreamRequestId,
    ...(exchange && { ...parameterAttributes(exchange.parameters), ...answerAttributes(exchange) }),
  });
}

type Blanks = Record<string, string | number | string[] | undefined>;

function parameterAttributes(asked: RequestParameters): Blanks {
  return {
    "gen_ai.request.temperature": asked.temperature,
    "gen_ai.request.top_p": asked.topP,
    "gen_ai.request.top_k": asked.topK,
    "gen_ai.request.max_tokens": asked.maxTokens,
    "gen_ai.request.frequency_penalty": asked.frequencyPenalty,
    "gen_ai.request.presence_penalty": asked.presencePenalty,
    "gen_ai.request.seed": asked.seed,
    // One answer is what every request gets, so the conventions leave it out.
    "gen_ai.request.choice.count": asked.choices === 1 ? undefined : asked.choices,
    "gen_ai.request.encoding_formats": asked.encodingFormats && [...asked.encodingFormats],
    "gen_ai.request.reasoning.level": asked.reasoningLevel,
    "gen_ai.request.previous_response.id": asked.previousResponseId,
  };
}

function answerAttributes({ responseId, responseModel, finishReasons }: ExchangeFacts): Blanks {
  return {
    "gen_ai.response.id": responseId,
    "gen_ai.response.model": responseModel,
    "gen_ai.response.finish_reasons": finishReasons.length === 0 ? undefined : [...finishReasons],
  };
}

function withoutBlanks(attributes: Blanks): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined)) as Attributes;
}
