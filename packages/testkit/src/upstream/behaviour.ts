// The model's name defines what the fake upstream does: words joined by "+", each with optional numbers. `gpt-4o`
// answers normally; `slow-50+cut-after-3` waits 50 ms between events and ends after three.

export interface TokenCounts {
  readonly input: number;
  readonly output: number;
  /** The part of `input` that came from a cache; defaults to 0. */
  readonly cached?: number;
}

export interface Behaviour {
  /** Answers with this status and an error body. */
  readonly status?: number;
  /** True if the error happens only on the first call. */
  readonly isOnce: boolean;
  readonly retryAfterSeconds?: number;
  /** The delay between events, and before a plain answer. */
  readonly delayMs: number;
  /** How many events the stream sends before it stops in the manner of `completion`. */
  readonly stopAfter?: number;
  readonly completion: "orderly" | "cut" | "reset" | "hang" | "error";
  /** Never sends a head. */
  readonly isHanging: boolean;
  readonly body: "normal" | "html" | "empty" | "redirect" | "huge" | "bad-json";
  /** Overrides the shape that the request wanted. */
  readonly forcedShape?: "json" | "sse";
  readonly usage: TokenCounts | undefined;
  /** True if usage is streamed even if the request did not want it. */
  readonly isUsageForced: boolean;
  readonly toolCalls: 0 | 1 | 2;
  /** True if text comes before the tool calls. */
  readonly isSpoken: boolean;
  /** True if tools are called until the request contains a result of one. */
  readonly isToolLoop: boolean;
  readonly hasReasoning: boolean;
  /** Number of text pieces. */
  readonly pieces?: number;
  readonly isEcho: boolean;
  readonly isMultibyte: boolean;
  /** True if the answer declines in the way of the format: a refusal, a stop reason, a blocked prompt. */
  readonly isRefusal: boolean;
  readonly finish: "stop" | "length" | "content_filter";
  readonly lineEnd: "\n" | "\r\n";
  readonly hasBigLine: boolean;
  readonly hasComments: boolean;
  /** Bytes per write; 0 = one event per write. */
  readonly splitBytes: number;
}

export const DEFAULT_USAGE: TokenCounts = { input: 20, output: 10 };

const NORMAL: Behaviour = {
  isOnce: false,
  delayMs: 0,
  completion: "orderly",
  isHanging: false,
  body: "normal",
  usage: DEFAULT_USAGE,
  isUsageForced: false,
  toolCalls: 0,
  isSpoken: false,
  isToolLoop: false,
  hasReasoning: false,
  isEcho: false,
  isMultibyte: false,
  isRefusal: false,
  finish: "stop",
  lineEnd: "\n",
  hasBigLine: false,
  hasComments: false,
  splitBytes: 0,
};

type Reader = (numbers: readonly number[]) => Partial<Behaviour>;

/** Every word; `N` stands for a number. */
export const WORDS: Readonly<Record<string, Reader>> = {
  "status-N": ([status = 500]) => ({ status }),
  "status-N-then-ok": ([status = 500]) => ({ status, isOnce: true }),
  "retry-after-N": ([seconds = 1]) => ({ status: 429, retryAfterSeconds: seconds }),
  "slow-N": ([delayMs = 50]) => ({ delayMs }),
  hang: () => ({ isHanging: true }),
  "cut-after-N": ([stopAfter = 0]) => ({ stopAfter, completion: "cut" }),
  "reset-after-N": ([stopAfter = 0]) => ({ stopAfter, completion: "reset" }),
  "hang-after-N": ([stopAfter = 0]) => ({ stopAfter, completion: "hang" }),
  "error-after-N": ([stopAfter = 0]) => ({ stopAfter, completion: "error" }),
  "error-first": () => ({ stopAfter: 0, completion: "error" }),
  html: () => ({ body: "html" }),
  empty: () => ({ body: "empty" }),
  redirect: () => ({ body: "redirect" }),
  huge: () => ({ body: "huge" }),
  "bad-json": () => ({ body: "bad-json" }),
  "json-for-stream": () => ({ forcedShape: "json" }),
  "sse-for-plain": () => ({ forcedShape: "sse" }),
  "no-usage": () => ({ usage: undefined }),
  "zero-usage": () => ({ usage: { input: 0, output: 0 } }),
  "usage-N-N": ([input = 0, output = 0]) => ({ usage: { input, output } }),
  "cached-N": ([cached = 0]) => ({ usage: { ...DEFAULT_USAGE, cached } }),
  "forced-usage": () => ({ isUsageForced: true }),
  tools: () => ({ toolCalls: 1 }),
  spoken: () => ({ isSpoken: true }),
  "tool-loop": () => ({ toolCalls: 1, isToolLoop: true }),
  "two-tools": () => ({ toolCalls: 2 }),
  reasoning: () => ({ hasReasoning: true }),
  "long-N": ([pieces = 1000]) => ({ pieces }),
  echo: () => ({ isEcho: true }),
  multibyte: () => ({ isMultibyte: true }),
  length: () => ({ finish: "length" }),
  refusal: () => ({ isRefusal: true }),
  filtered: () => ({ finish: "content_filter" }),
  crlf: () => ({ lineEnd: "\r\n" }),
  "big-line": () => ({ hasBigLine: true }),
  comments: () => ({ hasComments: true }),
  "split-N": ([splitBytes = 7]) => ({ splitBytes }),
};

/**
 * Parses the words of a model's name, which follow `+`, or `_` if the name may not contain that; unknown words have no
 * effect.
 */
export function parseBehaviour(model: string): Behaviour {
  let behaviour = NORMAL;
  for (const word of model.split(/[+_]/)) {
    const reader = WORDS[word.replaceAll(/\d+/g, "N")];
    if (reader) behaviour = { ...behaviour, ...reader((word.match(/\d+/g) ?? []).map(Number)) };
  }
  return behaviour;
}
