// How an answer ended, in the words of each protocol.

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
};

const TO_GEMINI: Readonly<Record<string, string>> = {
  length: "MAX_TOKENS",
  content_filter: "SAFETY",
};

export function finishOfAnthropic(reason: string | undefined): string {
  return FROM_ANTHROPIC[reason ?? ""] ?? "stop";
}

/** Tool calls end a turn as such, also where an upstream says `stop`. */
export function anthropicStop(finish: string | undefined, hasTools: boolean): string {
  if (hasTools && (finish === "stop" || finish === undefined)) return "tool_use";
  return TO_ANTHROPIC[finish ?? "stop"] ?? "end_turn";
}

export function finishOfGemini(reason: string | undefined, hasTools: boolean): string {
  const finish = FROM_GEMINI[reason ?? ""] ?? (reason?.startsWith("IMAGE_") === true ? "content_filter" : "stop");
  return finish === "stop" && hasTools ? "tool_calls" : finish;
}

/** A refusal in words has no other sign in this protocol. */
export function geminiFinish(finish: string | undefined, hasRefused: boolean): string {
  if (hasRefused && finish !== "length") return "SAFETY";
  return TO_GEMINI[finish ?? "stop"] ?? "STOP";
}
