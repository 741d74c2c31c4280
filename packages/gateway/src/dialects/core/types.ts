/** Seams between wire protocols and the relay. Pure: nothing here performs I/O. */

import type { JsonObject } from "../../lib/text/json.ts";
import type { MemberEdit } from "../../lib/text/json-splice.ts";
import type { StreamEvent } from "../../lib/text/sse.ts";

export type { JsonObject, JsonValue } from "../../lib/text/json.ts";
export type { StreamEvent } from "../../lib/text/sse.ts";

/** What a client requests; names follow the OpenAI path they were first seen under. */
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

/** A wire protocol. `private:*` are protocols of a single vendor, spoken upstream only. */
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
  /** As the client named it; billing, limits and logs use this name. */
  readonly model: string;
  readonly stream: boolean;
  /** True when the client itself asked for usage in the stream. */
  readonly wantsStreamUsage: boolean;
  /** Requested maximum of output tokens; undefined when the client set none. */
  readonly outputCap: number | undefined;
  /** Upper estimate of the prompt's tokens, from the UTF-8 length of its text and the image rules. */
  readonly promptEstimate: number;
  /** Answers that each may be as long as the model can; 1 when missing. */
  readonly answers?: number;
  /** Number of answers, images or calls that one request is charged for. */
  readonly units: number;
  /** Tokens that cost more than text and that the request may have; its reservation takes the dearest. */
  readonly dearTokens?: readonly DearTokens[];
  /** Kinds of service that the vendor prices apart, such as priority; missing for the standard one. */
  readonly tiers?: readonly string[];
  /** Tools that the vendor runs itself; missing when there are none, empty where only the vendor knows. */
  readonly hostedTools?: readonly string[];
  /** How often they may be called, where the request says so. */
  readonly hostedCalls?: number;
  /** Price factors of images: size and quality as the client wrote them. */
  readonly size?: string;
  readonly quality?: string;
  /** For images: the client requests bytes instead of a URL. */
  readonly wantsBase64?: boolean;
  /** The request switches reasoning off. */
  readonly isThinkingOff?: true;
  /** Reasoning effort as the client wrote it, for the log. */
  readonly reasoningEffort?: string;
}

export type DearTokens = "audioInput" | "audioOutput" | "write" | "write1h";

/** A request body: the original bytes, and the JSON parsed from them once. */
export interface Body {
  readonly bytes: Buffer;
  /** Parsed on first use; throws AppError `invalid_json`. Never changed by anyone. */
  json(): JsonObject;
  /** Lets go of what was parsed, which takes several times the room of its bytes; `json` parses again. */
  forget?(): void;
}

/**
 * Token usage in one normal form. `input` is the whole prompt including cached, audio and image tokens;
 * `output` includes reasoning and audio. Counts that are negative, fractional or not numbers count as absent.
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
  /** Images, characters, seconds, searches: whatever the operation is priced by besides tokens. */
  readonly units?: number;
  /** `estimated` counts are upper bounds; only a request whose process died is charged by them. */
  readonly source: "upstream" | "counted" | "mixed" | "estimated";
  /** Part of `reasoning` that no one reported: estimated by the time it took. */
  readonly estimatedReasoning?: number;
  /** Calls of tools that the vendor ran, by tool. */
  readonly toolCalls?: Readonly<Record<string, number>>;
  /** The reported usage, if it is more than the answer can have cost; the counts are bounded then. */
  readonly reported?: { readonly input: number; readonly output: number; readonly units: number };
  /** Figures of the report that cannot be true, by the rule that was used instead. */
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
 * Reads along while whole event blocks are forwarded; never changes them. Keeps no text.
 * `feed` takes one or more complete event blocks (they end with a blank line).
 */
export interface UsageMeter {
  feed(blocks: Buffer): void;
  /** Last complete usage seen. */
  readonly usage: Usage | undefined;
  /** The protocol's regular end was seen (finish reason, `message_stop`, `response.completed`). */
  readonly finished: boolean;
  /** The protocol's terminator was seen: `[DONE]`, `message_stop`, `response.completed`. */
  readonly terminated: boolean;
  /** Set where `finished` is the end of one result of several, so that more may come at any time. */
  readonly continues?: boolean;
  readonly error: UpstreamErrorEvent | undefined;
}

/** The kind of a streamed event: part of the answer, metadata, or unreadable for clients of the protocol. */
export type EventKind = "part" | "metadata" | "unreadable";

/** Texts that a request or an answer holds, for counting where no usage is reported. */
export interface Texts {
  /** Everything that counts as plain text, joined by nothing. */
  readonly text: string;
  /** Fixed tokens on top: message overhead, tool calls, images, files, audio. */
  readonly extra: number;
  /** Set where the upstream reads several inputs apart: they are counted apart, as tokens never span two of them. */
  readonly inputs?: readonly string[];
  /** Code that the vendor ran, and what it wrote: clients show it, so that it is checked, but it is no text of the model. */
  readonly ran?: string;
}

/** The ids in answers that a later request of the same user may name. */
export interface AnswerIds {
  /** A streamed event that holds none of these texts as a JSON string names nothing. */
  readonly marks: readonly string[];
  /** False for requests whose answers name nothing that lasts. */
  mayName(body: JsonObject, spec: RequestSpec): boolean;
  /** The model that a whole answer or one streamed event names. */
  read(answer: JsonObject): readonly string[];
}

/** A wire protocol spoken by clients, upstreams or both. */
export interface Dialect {
  readonly id: DialectId;
  readonly errors: ErrorDialect;
  /** Reads what routing and pricing need; throws AppError (`invalid_request`, `model_required`, ...). */
  inspect(body: Body, operation: Operation, pathModel: string | undefined): RequestSpec;
  /** Bytes for the upstream: model renamed, usage reporting on. The same buffer when nothing changes. */
  retarget(body: Body, spec: RequestSpec, upstreamModel: string, options: RetargetOptions): Buffer;
  /**
   * What sets a limit of output tokens for each answer of a request that names none; absent where the protocol has no
   * such limit.
   */
  capEdits?(body: JsonObject, tokens: number): MemberEdit[];
  /** The member in which a request names its limit, for the report of what was changed; default: `max_tokens`. */
  capName?(body: JsonObject): string;
  /** Reads the limits of the output from a request in this protocol; absent where it has none. */
  readonly requestedOutput?: ReadRequestedOutput;
  /** Usage of a whole (not streamed) answer. */
  usage(answer: JsonObject): Usage | undefined;
  /** An error object inside an answer of status 200, if that is what it is. */
  errorIn(answer: JsonObject): UpstreamErrorEvent | undefined;
  /** False for a whole answer that no client of the protocol could read; absent where any object will do. */
  isAnswer?(answer: JsonObject): boolean;
  /** Classifies a streamed event; absent if every event is a part of the answer. */
  classifyEvent?(event: JsonObject): EventKind;
  /**
   * True for a streamed event that shows the client something: text, reasoning, a call of a tool, sound, an image.
   * Events that only open the answer or add an empty piece do not.
   */
  hasContent(event: JsonObject): boolean;
  /** True for an answer, or the event that ends one, that says the prompt or its answer was refused. */
  isRefusal?(answer: JsonObject): boolean;
  /** Event blocks without what its clients stumble over and some upstreams send; the same buffer where there is none. */
  tidy?(blocks: Buffer): Buffer;
  meter(): UsageMeter;
  /** Absent where no answer names anything that lasts. */
  readonly answerIds?: AnswerIds;
  /** Texts of the request, for counting the prompt with an encoder. */
  promptTexts(body: Body): Texts;
  /** Texts of the request that someone wrote, piece by piece, for word filters: no schemas, names or files. */
  promptWords(body: Body): readonly string[];
  /** Texts of a whole answer. */
  answerTexts(answer: JsonObject): Texts;
  /** Texts of one streamed event (its parsed `data`). */
  eventTexts(event: JsonObject): Texts;
  /**
   * True for an event that exists only because the gateway asked for usage; it is cut from the stream
   * when the client did not ask.
   */
  isUsageOnly(event: JsonObject): boolean;
  /** Minimal legal event blocks for a whole answer, for clients that asked for a stream and upstreams that did not. */
  toStream(answer: JsonObject, spec: RequestSpec): Buffer;
  /** The whole answer that a stream adds up to, for the opposite case; undefined when the dialect cannot. */
  assembleAnswer(events: readonly JsonObject[]): JsonObject | undefined;
  /** A whole answer with this usage, for answers whose upstream reported none. */
  withUsage?(answer: JsonObject, usage: Usage): JsonObject;
  /** The answer as this request wanted it (encoding of vectors); the same object when nothing changes. */
  fitAnswer?(answer: JsonObject, body: Body): JsonObject;
  /** Event block with usage for clients that asked when the upstream sent none. */
  usageEvent(usage: Usage, last: JsonObject | undefined): Buffer | undefined;
  /** The terminator that this protocol puts after a regular end (`data: [DONE]`), if any. */
  readonly terminator: Buffer | undefined;
  /** The event that ends a stream whose upstream sent the end of its answer and nothing more, if there is one. */
  readonly closing?: Buffer;
  /** A keep-alive between events, for protocols whose clients expect another one than a comment. */
  readonly heartbeat?: Buffer;
  /** Follows a stream on its way to a client, for the error frame that may end it. */
  position?(): StreamPosition;
  /** The form of a stream for a client that asked at `url`; undefined = event blocks as they are. */
  streamForm?(url: string): StreamForm | undefined;
}

/** The position of a stream. */
export interface StreamPosition {
  /** `blocks` are whole events on their way to the client. */
  feed(blocks: Buffer): void;
  /** Options for the error frame that ends the stream. */
  options(): ErrorFrameOptions;
}

export interface ErrorFrameOptions {
  /** Number of the next event of the stream. */
  readonly sequence?: number | undefined;
  /** The response object that the stream announced; it is reported as failed. */
  readonly response?: JsonObject | undefined;
}

/** Writes a stream in a form of its own: as something else than events, or with keep-alives that fit its readers. */
export interface StreamForm {
  readonly contentType: string;
  /** The next bytes that keep the connection alive and that every reader of this form ignores. */
  beat(): Buffer;
  /** `blocks` are whole events on their way to the client. */
  feed(blocks: Buffer): Buffer;
  /** Closes the form after a regular end. */
  end(): Buffer;
}

export interface RetargetOptions {
  /** Ask the upstream to report usage in the stream where the dialect has a switch for it. */
  readonly askUsage: boolean;
}

/** Carries what both directions of one conversion share. */
export interface BridgeContext {
  readonly spec: RequestSpec;
  readonly upstreamModel: string;
  readonly requestId: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Names a field that could not be carried; the names end in the log row and, on request, in a header. */
  dropped(field: string): void;
  /** Channel settings that shape a conversion (regions, plug-ins). */
  readonly setting: JsonObject;
  /** Set where the answer is stored for later requests. */
  readonly pending?: PendingAnswer;
  /** The features of the server that is asked in the chat protocol. */
  readonly chatServer?: ChatServer | undefined;
}

/** What a server of the chat protocol takes, where it differs from the protocol's own words. */
export interface ChatServer {
  /** It reads `top_k`, which others refuse. */
  readonly takesTopK?: true;
  /** Stop texts of one request; default: 4. */
  readonly maxStops?: number;
}

/** An answer that is stored for later requests. */
export interface PendingAnswer {
  /** Id of the response that the request continues from. */
  readonly previous: string | undefined;
  /** Called with the whole answer once it is made, before it is known to reach the client. */
  made(answer: JsonObject): void;
}

export interface StreamBridge {
  /** Events for the client; an empty list swallows the event. */
  event(event: StreamEvent): StreamEvent[];
  /**
   * Called after the upstream's regular end; closes whatever is open. `counted` stands in for usage that the upstream
   * did not report, or not where its protocol has it.
   */
  end(counted?: Usage): StreamEvent[];
}

/** A conversion between two dialects. Two of them over the pivot `openai-chat` connect any pair. */
export interface ToolNameRule {
  /** Length. */
  readonly most: number;
  /** Global; the characters that may not stand in a name. */
  readonly forbidden: RegExp;
  readonly first: RegExp;
}

/** What tools of a vendor do, whatever it calls them. */
export type HostedKind = "web_search" | "web_fetch" | "code_execution" | "mcp";

export interface Bridge {
  readonly client: DialectId;
  readonly upstream: DialectId;
  /** Hosted tools that it converts; `web_search_options` if it reads that member of chat itself. */
  readonly hosted?: readonly (HostedKind | "web_search_options")[];
  /** Names of tools that the upstream takes; default: `[a-zA-Z0-9_-]`, up to 64. */
  readonly toolNames?: ToolNameRule;
  request(body: JsonObject, context: BridgeContext): JsonObject;
  response(body: JsonObject, context: BridgeContext): JsonObject;
  stream(context: BridgeContext): StreamBridge;
}

/** What is wrong with reported usage, and the rule that was used instead. The rules are in docs/explain/billing.md. */
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

/** Limits of the output that a request names. */
export interface RequestedOutput {
  /** Output tokens of each answer; undefined where the request names no limit. */
  readonly cap: number | undefined;
  /** Answers that each may be as long as `cap`. */
  readonly answers: number;
  /** Pictures. */
  readonly images?: number;
  /** Reasoning tokens that the vendor bills in addition to `cap`; Infinity where the request does not limit them. */
  readonly reasoningBeyondCap?: number;
}

/** Reads the limits from a request body in the protocol of an upstream. */
export type ReadRequestedOutput = (body: JsonObject, upstreamModel: string) => RequestedOutput;
