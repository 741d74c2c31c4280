// Names of the OpenTelemetry semantic conventions for generative AI, in the two versions that back ends support.
import { keyNumber } from "@fairway/wire";
import type { Attributes } from "@opentelemetry/api";
import type { AttemptEnd, AttemptStart, CallEnd, CallStart } from "./call-span.ts";

export type GenAiConvention = "1.36" | "1.37";

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
  };
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

/** Returns the attributes of one upstream call at its start. */
export function attemptAttributes(attempt: AttemptStart, operation: string, convention: GenAiConvention): Attributes {
  return {
    "gen_ai.operation.name": operationName(operation),
    [convention === "1.36" ? "gen_ai.system" : "gen_ai.provider.name"]: attempt.provider,
    "gen_ai.request.model": attempt.upstreamModel,
    "fairway.channel.id": attempt.channelId,
    "fairway.channel.name": attempt.channelName,
    "fairway.channel.key": keyNumber(attempt.keyIndex),
  };
}

/** Returns the attributes of one upstream call at its end; unknown ones are missing. */
export function attemptEndAttributes({ status, host, upstreamRequestId, errorCode }: AttemptEnd): Attributes {
  const [, name = "", port] = /^(.*?)(?::(\d+))?$/.exec(host) ?? [];
  return withoutBlanks({
    "server.address": name === "" ? undefined : name,
    "server.port": port === undefined ? undefined : Number(port),
    "http.response.status_code": status === 0 ? undefined : status,
    "error.type": errorCode,
    "fairway.upstream_request_id": upstreamRequestId,
  });
}

function withoutBlanks(attributes: Record<string, string | number | undefined>): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined)) as Attributes;
}
