/** The interfaces between wire protocols and the relay. Nothing here performs I/O. */

import type { JsonObject } from "../../lib/text/json.ts";
import type { MemberEdit } from "../../lib/text/json-splice.ts";

export type { JsonObject, JsonValue } from "../../lib/text/json.ts";
export type { StreamEvent } from "../../lib/text/sse.ts";

/** The operation that a client requests; names follow the OpenAI path at which it first appeared. */
export type Operation =
  | "chat"
  | "completions"
  | "responses"
  | "embeddings"
  | "moderations"
  | "rerank"
  | "images.generations"
  | "images.edits"
  | "images.variations"
  | "audio.speech"
  | "audio.transcriptions"
  | "audio.translations"
  | "realtime"
  | "count_tokens";

/** A wire protocol. `private:*` are protocols of a single vendor, which are spoken only upstream. */
export type DialectId =
  | "openai-chat"
  | "openai-completions"
  | "openai-responses"
  | "openai-compaction"
  | "openai-input-tokens"
  | "openai-embeddings"
  | "openai-moderations"
  | "openai-images"
  | "openai-audio"
  | "openai-realtime"
  | "rerank"
  | "anthropic-messages"
  | "anthropic-count-tokens"
  | "gemini-generate"
  | "gemini-embed"
  | "gemini-count-tokens"
  | `private:${string}`;

/** Error envelope families of clients. */
export type ErrorDialect =
  | "openai"
  | "openai-playground"
  | "openai-responses"
  | "anthropic"
  | "gemini"
  | "midjourney"
  | "suno";

/** The facts about a request that routing and pricing need. */
export interface RequestSpec {
  readonly operation: Operation;
  readonly dialect: DialectId;
  /** The model as the client named it; billing, limits and logs use this name. */
  readonly model: string;
  readonly stream: boolean;
  /** True if the client itself requested usage in the stream. */
  readonly wantsStreamUsage: boolean;
  /** Requested maximum of output tokens; undefined if the client set none. */
  readonly outputCap: number | undefined;
  /** Upper estimate of the prompt's tokens, from the UTF-8 length of its text and the image rules. */
  readonly promptEstimate: number;
  /** Number of answers; each one may be as long as the model allows; 1 if missing. */
  readonly answers?: number;
  /** Number of answers, images or calls that one request is charged for. */
  readonly units: number;
  /** Kinds of tokens that the request may have and that cost more than text; its reservation uses the dearest. */
  readonly dearTokens?: readonly DearTokens[];
  /** Service tiers that the vendor prices separately, such as priority; missing for the standard one. */
  readonly tiers?: readonly string[];
  /** Tools that the vendor runs itself; missing if there are none, empty if only the vendor knows them. */
  readonly hostedTools?: readonly string[];
  /** Containers that the request names for these tools, which exist already; missing if there are none. */
  readonly containers?: readonly string[];
  /** How often these tools may be called, if the request limits it. */
  readonly hostedCalls?: number;
  /** Price factors of images: size and quality as the client wrote them. */
  readonly size?: string;
  readonly quality?: string;
  /** For images: true if the client requests bytes instead of a URL. */
  readonly wantsBase64?: boolean;
  /** Set if the request switches reasoning off. */
  readonly isThinkingOff?: true;
  /** The reasoning effort as the client wrote it, for the log. */
  readonly reasoningEffort?: string;
}

export type DearTokens = "audioInput" | "audioOutput" | "write" | "write1h";

/** A request body: the original bytes, and the JSON parsed from them once. */
export interface Body {
  readonly bytes: Buffer;
  /** Parses the body on first use; throws AppError `invalid_json`. The result must never be changed. */
  json(): JsonObject;
  /** True if it is known that `json` has the exact value of every number. */
  readonly isExact?: boolean | undefined;
  /** Releases the parsed JSON, which takes several times the memory of its bytes; `json` parses it again. */
  forget?(): void;
}

/**
 * Token usage in one normal form. `input` is the whole prompt including cached, audio and image tokens; `output`
 * includes reasoning and audio. Values that are negative, fractional or not numbers are treated as absent.
 */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cachedInput: number;
  readonly cacheWrite: number;
  /** Part of `cacheWrite` that is stored for one hour. */
  readonly cacheWrite1h: number;
  readonly reasoning: number;
  readonly audioInput: number;
  readonly audioOutput: number;
  readonly imageInput: number;
  /** Images, characters, seconds or searches: the units by which the operation is priced, apart from tokens. */
  readonly units?: number;
  /** Source of the counts. `estimated` ones are upper bounds; only a request whose process died is charged by them. */
  readonly source: "upstream" | "counted" | "mixed" | "estimated";
  /** Part of `reasoning` that was not reported but estimated from the time it took. */
  readonly estimatedReasoning?: number;
  /** Calls of tools that the vendor ran, by tool. */
  readonly toolCalls?: Readonly<Record<string, number>>;
  /** The reported usage, if it is more than the answer can have cost; then the counts are bounded. */
  readonly reported?: { readonly input: number; readonly output: number; readonly units: number };
  /** Reported figures that cannot be true, by the rule that was used instead. */
  readonly doubts?: Doubts;
}

export const NO_USAGE: Usage = Object.freeze({
  input: 0,
  output: 0,
  cachedInput: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  reasoning: 0,
  audioInput: 0,
  audioOutput: 0,
  imageInput: 0,
  source: "upstream",
});

/** An error event that an upstream sent inside a stream or a 200 answer. */
export interface UpstreamErrorEvent {
  readonly message: string;
  readonly type: string | undefined;
  readonly code: string | undefined;
  readonly param: string | undefined;
  readonly status: number | undefined;
}

/**
 * Reads whole event blocks while they are forwarded; never changes them and stores no text. `feed` takes one or more
 * complete event blocks (they end with a blank line).
 */
export interface UsageMeter {
  feed(blocks: Buffer): void;
  /** The last complete usage seen. */
  readonly usage: Usage | undefined;
  /** True if the protocol's regular end was seen (finish reason, `message_stop`, `response.completed`). */
  readonly finished: boolean;
  /** True if the protocol's terminator was seen: `[DONE]`, `message_stop`, `response.completed`. */
  readonly terminated: boolean;
  /** Set if `finished` only means the end of one of several results, so that more may follow at any time. */
  readonly continues?: boolean;
  readonly error: UpstreamErrorEvent | undefined;
}

/** The kind of a streamed event: part of the answer, metadata, or unreadable for clients of the protocol. */
export type EventKind = "part" | "metadata" | "unreadable";

/** Texts of a request or an answer, for counting if no usage is reported. */
export interface Texts {
  /** Everything that counts as plain text, joined without a separator. */
  readonly text: string;
  /** Additional fixed tokens: message overhead, tool calls, images, files, audio. */
  readonly extra: number;
  /** Set if the upstream reads several inputs separately: they are counted so too, as no token spans two of them. */
  readonly inputs?: readonly string[];
  /**
   * Code that the vendor ran, and its output. It is checked because clients show it, but it is not text of the model.
   */
  readonly ran?: string;
}

/** The ids in answers that a later request of the same user may name. */
export interface AnswerIds {
  /** Texts to search for: a streamed event that holds none of them as a JSON string names no ids. */
  readonly marks: readonly string[];
  /** Returns false for requests whose answers name nothing that outlives them. */
  mayName(body: JsonObject, spec: RequestSpec): boolean;
  /** Returns the ids that a whole answer or one streamed event names. */
  read(answer: JsonObject): readonly string[];
}

/** A wire protocol spoken by clients, upstreams or both. */
export interface Dialect {
  readonly id: DialectId;
  readonly errors: ErrorDialect;
  /** Reads what routing and pricing need; throws AppError (`invalid_request`, `model_required`, ...). */
  inspect(body: Body, operation: Operation, pathModel: string | undefined): RequestSpec;
  /**
   * Returns the bytes for the upstream, with the model renamed and usage reporting switched on; the same buffer if
   * nothing changes.
   */
  retarget(body: Body, spec: RequestSpec, upstreamModel: string, options: RetargetOptions): Buffer;
  /**
   * Returns the edits that set a limit of output tokens per answer in a request without one; absent if the protocol has
   * no such limit.
   */
  capEdits?(body: JsonObject, tokens: number): MemberEdit[];
  /** Returns the member in which a request has its limit, for the report of changes; default: `max_tokens`. */
  capName?(body: JsonObject): string;
  /** Reads the output limits from a request in this protocol; absent if the protocol has none. */
  readonly requestedOutput?: ReadRequestedOutput;
  /** Reads the usage of a whole (not streamed) answer. */
  usage(answer: JsonObject): Usage | undefined;
  /** Returns the error if an answer of status 200 is one. */
  errorIn(answer: JsonObject): UpstreamErrorEvent | undefined;
  /** Returns false for a whole answer that no client of the protocol could read; absent if any object is valid. */
  isAnswer?(answer: JsonObject): boolean;
  /** Classifies a streamed event; absent if every event is part of the answer. */
  classifyEvent?(event: JsonObject): EventKind;
  /**
   * Returns true for a streamed event that shows the client something: text, reasoning, a tool call, sound, an image.
   * Events that only open the answer or add an empty piece do not.
   */
  hasContent(event: JsonObject): boolean;
  /** Returns true if an answer, or the event that ends one, says that the prompt or its answer was refused. */
  isRefusal?(answer: JsonObject): boolean;
  /**
   * Removes what some upstreams send and clients cannot handle from event blocks; returns the same buffer if there is
   * nothing to remove.
   */
  tidy?(blocks: Buffer): Buffer;
  meter(): UsageMeter;
  /** The ids in answers; absent if no answer names anything that outlives it. */
  readonly answerIds?: AnswerIds;
  /** Returns the texts of the request, for counting the prompt with an encoder. */
  promptTexts(body: Body): Texts;
  /**
   * Returns the texts of the request that someone wrote, piece by piece, for word filters: no schemas, names or files.
   */
  promptWords(body: Body): readonly string[];
  /** Returns the texts of a whole answer. */
  answerTexts(answer: JsonObject): Texts;
  /** Returns the texts of one streamed event (its parsed `data`). */
  eventTexts(event: JsonObject): Texts;
  /**
   * Returns true for an event that exists only because the gateway requested usage; it is cut from the stream if the
   * client did not request it.
   */
  isUsageOnly(event: JsonObject): boolean;
  /**
   * Returns minimal event blocks for a whole answer, for clients that requested a stream from upstreams that sent none.
   */
  toStream(answer: JsonObject, spec: RequestSpec): Buffer;
  /** Assembles the whole answer from a stream, for the opposite case; undefined if the dialect cannot. */
  assembleAnswer(events: readonly JsonObject[]): JsonObject | undefined;
  /** Adds usage to a whole answer, for upstreams that reported none. */
  withUsage?(answer: JsonObject, usage: Usage): JsonObject;
  /**
   * Returns the answer in the form that the request wants (encoding of vectors); the same object if nothing changes.
   */
  fitAnswer?(answer: JsonObject, body: Body): JsonObject;
  /** Returns an event block with usage, for clients that requested it if the upstream sent none. */
  usageEvent(usage: Usage, last: JsonObject | undefined): Buffer | undefined;
  /** The terminator that this protocol puts after a regular end (`data: [DONE]`), if any. */
  readonly terminator: Buffer | undefined;
  /** The event that closes a stream whose upstream stopped after the end of its answer, if the protocol has one. */
  readonly closing?: Buffer;
  /** A keep-alive between events, for protocols whose clients expect something other than a comment. */
  readonly heartbeat?: Buffer;
  /** Tracks a stream on its way to a client, for the error frame that may end it. */
  position?(): StreamPosition;
  /** Returns the form of a stream for a client that called `url`; undefined = unchanged event blocks. */
  streamForm?(url: string): StreamForm | undefined;
}

/** The position of a stream. */
export interface StreamPosition {
  /** `blocks` are whole events on their way to the client. */
  feed(blocks: Buffer): void;
  /** Returns the options for the error frame that ends the stream. */
  options(): ErrorFrameOptions;
}

export interface ErrorFrameOptions {
  /** Number of the next event of the stream. */
  readonly sequence?: number | undefined;
  /** The response object that the stream announced; it is reported as failed. */
  readonly response?: JsonObject | undefined;
}

/** Writes a stream in another form: not as events, or with keep-alives that its clients accept. */
export interface StreamForm {
  readonly contentType: string;
  /** Returns the next bytes that keep the connection alive and that every reader of this form ignores. */
  beat(): Buffer;
  /** `blocks` are whole events on their way to the client. */
  feed(blocks: Buffer): Buffer;
  /** Returns the bytes that close the form after a regular end. */
  end(): Buffer;
}

export interface RetargetOptions {
  /** True to request usage in the stream, if the dialect has a switch for it. */
  readonly askUsage: boolean;
}

/**
 * What is wrong with reported usage; each name also means the rule that is used instead. The rules are in
 * docs/explain/billing.md.
 */
export type UsageRule =
  | `invalid_${string}`
  | "cached_over_input"
  | "cache_write_over_input"
  | "audio_over_input"
  | "image_over_input"
  | "reasoning_over_output"
  | "audio_over_output"
  | "cache_write_contradicts"
  | "total_contradicts"
  | "input_counted"
  | "output_counted";

/** The reported figure of each rule that was used. */
export type Doubts = Readonly<Partial<Record<UsageRule, number | string | null>>>;

/** The output limits that a request sets. */
export interface RequestedOutput {
  /** Output tokens of each answer; undefined if the request sets no limit. */
  readonly cap: number | undefined;
  /** Number of answers; each one may be as long as `cap`. */
  readonly answers: number;
  /** Number of pictures. */
  readonly images?: number;
  /** Reasoning tokens that the vendor bills in addition to `cap`; Infinity if the request does not limit them. */
  readonly reasoningBeyondCap?: number;
}

/** Reads the limits from a request body in the protocol of an upstream. */
export type ReadRequestedOutput = (body: JsonObject, upstreamModel: string) => RequestedOutput;
