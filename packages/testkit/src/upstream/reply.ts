import type { Behaviour, TokenCounts } from "./behaviour.ts";

export type Json = Readonly<Record<string, unknown>>;

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** The group of tools in the Responses API. */
  readonly namespace?: string;
  /** The JSON text of the arguments, split into the pieces of a stream. */
  readonly argumentPieces: readonly string[];
}

/** The upstream's reply, before it is encoded. */
export interface Reply {
  readonly id: string;
  readonly model: string;
  readonly pieces: Iterable<string>;
  readonly reasoning: readonly string[];
  readonly toolCalls: readonly ToolCall[];
  /** Replaces the text. */
  readonly refusal: string | undefined;
  readonly finish: Behaviour["finish"];
  readonly usage: TokenCounts | undefined;
}

/** One SSE event; `name` is its `event:` line, if the format has one. */
export interface SseEvent {
  readonly name?: string;
  readonly data: string;
}

/** A chat-like wire format. */
export interface ChatFormat {
  plain(reply: Reply): Json;
  /** `wantsUsage` = the request wants usage in the stream, if the format lets it choose. */
  stream(reply: Reply, wantsUsage: boolean): Iterable<SseEvent>;
  /** The body of a failed answer. */
  error(status: number, message: string): Json;
  /** The event of a failure in the middle of a stream. */
  errorEvent(message: string): SseEvent;
}

const PIECES = ["Hello", " from", " the", " fake", " upstream", "."];
const MULTIBYTE = ["Grüße ", "안녕하세요 ", "你好", "，世界 ", "👩‍👩‍👧 ", "𝄞 end"];
const BIG_LINE_CHARS = 1_000_000;

const WEATHER: ToolCall = { id: "call_fake_1", name: "get_weather", argumentPieces: ['{"city"', ':"Par', 'is"}'] };
const CLOCK: ToolCall = { id: "call_fake_2", name: "get_time", argumentPieces: ['{"zone":', '"UTC"}'] };

/** The text of `PIECES`, which a normal answer contains. */
export const NORMAL_TEXT = PIECES.join("");

export const REFUSAL = "I cannot help with that.";

/** The signature that some formats send with their thinking. */
export const SIGNATURE = "c2lnbmVkK2J5L3RoZS9mYWtlK3Vwc3RyZWFtPT0=";

export function composeReply(behaviour: Behaviour, model: string, question: string, serial: number): Reply {
  return {
    id: `fake-${serial}`,
    model,
    pieces: buildPieces(behaviour, question),
    reasoning: behaviour.hasReasoning ? ["Let me", " think."] : [],
    toolCalls: [WEATHER, CLOCK].slice(0, behaviour.toolCalls),
    refusal: behaviour.isRefusal ? REFUSAL : undefined,
    finish: behaviour.finish,
    usage: behaviour.usage,
  };
}

function buildPieces(behaviour: Behaviour, question: string): Iterable<string> {
  if ((behaviour.toolCalls > 0 && !behaviour.isSpoken) || behaviour.isRefusal) return [];
  if (behaviour.isEcho) return question.match(/[\s\S]{1,16}/gu) ?? [];
  if (behaviour.hasBigLine) return ["x".repeat(BIG_LINE_CHARS)];
  if (behaviour.pieces !== undefined) return { [Symbol.iterator]: () => count(behaviour.pieces ?? 0) };
  return behaviour.isMultibyte ? MULTIBYTE : PIECES;
}

function* count(pieces: number): Generator<string> {
  for (let i = 0; i < pieces; i++) yield ` word${i % 10}`;
}

export function joinPieces(reply: Reply): string {
  return [...reply.pieces].join("");
}
