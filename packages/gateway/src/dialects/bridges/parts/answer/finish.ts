// Finish reasons in the words of each protocol.
import { AppError } from "../../../../lib/app-error.ts";
import { text } from "../../../core/read.ts";
import type { JsonObject } from "../../../core/types.ts";

/**
 * Returns how a streamed choice ended; undefined before that. Some servers write an empty reason before and after it.
 */
export function finishIn(choice: JsonObject): string | undefined {
  return text(choice, "finish_reason") || undefined;
}

const FROM_ANTHROPIC: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  refusal: "content_filter",
};

const TO_ANTHROPIC: Readonly<Record<string, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  function_call: "tool_use",
  content_filter: "refusal",
};

const FROM_GEMINI: Readonly<Record<string, string>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  SAFETY: "content_filter",
  RECITATION: "content_filter",
  LANGUAGE: "content_filter",
  BLOCKLIST: "content_filter",
  PROHIBITED_CONTENT: "content_filter",
  SPII: "content_filter",
  MODEL_ARMOR: "content_filter",
};

const TO_GEMINI: Readonly<Record<string, string>> = {
  length: "MAX_TOKENS",
  content_filter: "SAFETY",
};

/**
 * Finish reasons for a tool call that could not be parsed or was not possible, and for a picture that was not drawn.
 */
const FAILED_AT_GEMINI = new Set([
  "MALFORMED_FUNCTION_CALL",
  "MALFORMED_RESPONSE",
  "UNEXPECTED_TOOL_CALL",
  "TOO_MANY_TOOL_CALLS",
  "MISSING_THOUGHT_SIGNATURE",
  "NO_IMAGE",
]);

export function convertAnthropicFinish(reason: string | undefined): string {
  return FROM_ANTHROPIC[reason ?? ""] ?? "stop";
}

/**
 * Returns the stop reason. A turn with tool calls ends as such, even if an upstream says `stop` or a word of its own.
 */
export function anthropicStop(finish: string | undefined, hasTools: boolean): string {
  const stop = TO_ANTHROPIC[finish ?? "stop"] ?? "end_turn";
  return hasTools && stop === "end_turn" ? "tool_use" : stop;
}

/** Throws for an answer that failed before it said anything: a retry may succeed, and an empty answer is useless. */
export function throwIfGeminiFailed(reason: string | undefined): void {
  if (reason === undefined || !FAILED_AT_GEMINI.has(reason)) return;
  throw AppError.upstream({
    status: 502,
    message: `The model failed to answer: ${reason}.`,
    type: undefined,
    code: reason.toLowerCase(),
    param: undefined,
    retryable: true,
  });
}

export function convertGeminiFinish(reason: string | undefined, hasTools: boolean): string {
  const finish = FROM_GEMINI[reason ?? ""] ?? (reason?.startsWith("IMAGE_") === true ? "content_filter" : "stop");
  return finish === "stop" && hasTools ? "tool_calls" : finish;
}

/** Returns the finish reason, which is the only sign of a refusal in this protocol. */
export function geminiFinish(finish: string | undefined, hasRefused: boolean): string {
  if (hasRefused && finish !== "length") return "SAFETY";
  return TO_GEMINI[finish ?? "stop"] ?? "STOP";
}
