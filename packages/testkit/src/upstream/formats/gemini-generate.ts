import type { TokenCounts } from "../behaviour.ts";
import { SIGNATURE, joinPieces, type ChatFormat, type Json, type Reply, type SseEvent } from "../reply.ts";

const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
};
const FINISH_REASONS = { stop: "STOP", length: "MAX_TOKENS", content_filter: "SAFETY" } as const;

/** `models/{model}:generateContent` and `:streamGenerateContent`. */
export const geminiGenerate: ChatFormat = {
  plain: (reply) =>
    reply.refusal !== undefined
      ? blocked(reply)
      : answer(reply, [...buildThoughts(reply), ...buildParts(reply, joinPieces(reply))], true),
  *stream(reply) {
    const event = (parts: readonly Json[], isLast: boolean): SseEvent => ({
      data: JSON.stringify(answer(reply, parts, isLast)),
    });
    if (reply.refusal !== undefined) {
      yield { data: JSON.stringify(blocked(reply)) };
      return;
    }
    for (const text of reply.reasoning) yield event([{ text, thought: true }], false);
    for (const text of reply.pieces) yield event([{ text }], false);
    yield event(reply.toolCalls.length > 0 ? buildParts(reply, "") : [{ text: "" }], true);
  },
  error,
  errorEvent: (message): SseEvent => ({ data: JSON.stringify(error(503, message)) }),
};

function error(status: number, message: string): Json {
  return { error: { code: status, message, status: STATUS_NAMES[status] ?? "INTERNAL" } };
}

function answer(reply: Reply, parts: readonly Json[], isLast: boolean): Json {
  return {
    candidates: [
      { content: { parts, role: "model" }, index: 0, ...(isLast && { finishReason: FINISH_REASONS[reply.finish] }) },
    ],
    ...buildTail(reply),
  };
}

/** A refused prompt has no candidates. */
function blocked(reply: Reply): Json {
  return { promptFeedback: { blockReason: "SAFETY" }, ...buildTail(reply) };
}

function buildTail(reply: Reply): Json {
  return {
    ...(reply.usage && { usageMetadata: geminiUsage(reply, reply.usage) }),
    modelVersion: reply.model,
    responseId: reply.id,
  };
}

function buildThoughts(reply: Reply): Json[] {
  return reply.reasoning.length > 0 ? [{ text: reply.reasoning.join(""), thought: true }] : [];
}

function buildParts(reply: Reply, text: string): Json[] {
  if (reply.toolCalls.length === 0) return [{ text }];
  const calls = reply.toolCalls.map((call, index) => ({
    functionCall: { name: call.name, args: JSON.parse(call.argumentPieces.join("")) as Json },
    ...(index === 0 && reply.reasoning.length > 0 && { thoughtSignature: SIGNATURE }),
  }));
  return text === "" ? calls : [{ text }, ...calls];
}

/** This format counts thoughts separately from the candidates: their sum is the reply's output. */
function geminiUsage(reply: Reply, { input, output, cached = 0 }: TokenCounts): Json {
  const thoughts = Math.min(output, reply.reasoning.length);
  return {
    promptTokenCount: input,
    ...(cached > 0 && { cachedContentTokenCount: cached }),
    candidatesTokenCount: output - thoughts,
    totalTokenCount: input + output,
    ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
  };
}
