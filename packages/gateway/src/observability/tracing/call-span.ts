import type { Runnable } from "../../lib/async/runnable.ts";

/** The events of one call that the relay reports to a trace. Times are milliseconds of the monotonic clock. */
export interface CallSpan {
  /** Undefined for a call that is not sampled, because its trace cannot be found. */
  readonly traceId: string | undefined;
  readonly spanId: string;
  /** Returns `traceparent` and `tracestate` for the running upstream call. */
  headers(): Readonly<Record<string, string>>;
  attemptStarted(attempt: AttemptStart): void;
  attemptEnded(attempt: AttemptEnd): void;
  /** Ends the trace and any attempt that is still running. */
  ended(call: CallEnd): void;
}

export interface CallStart {
  readonly requestId: string;
  /** The name in the routes of the relay: `chat`, `embeddings`, `images.generations`. */
  readonly operation: string;
  /** "" if it is not known at the start. */
  readonly model: string;
  readonly isStream: boolean;
  /** Without the query. */
  readonly path: string;
  readonly userId: number;
  readonly tokenId: number;
  readonly group: string;
  readonly startedAt: number;
  /** What the call is for: the tags that a policy names, by key. */
  readonly tags?: ReadonlyMap<string, string>;
  /** The customer of the client; "" = unknown. */
  readonly endUser?: string;
  /** `traceparent` and `tracestate` of the client. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface AttemptStart {
  readonly channelId: number;
  readonly channelName: string;
  /** Index of the key in the channel, from 0. */
  readonly keyIndex: number;
  /** The conventions' name of the vendor. */
  readonly provider: string;
  readonly upstreamModel: string;
  /** Undefined for operations that have no streams. */
  readonly isStream?: boolean | undefined;
}

export interface AttemptEnd {
  /** 0 = the upstream did not answer. */
  readonly status: number;
  /** Host and port; "" if nothing was sent. */
  readonly host: string;
  readonly upstreamRequestId: string | undefined;
  /** Code of the failure; undefined for a delivered answer. */
  readonly errorCode: string | undefined;
  /** Undefined if nothing was sent, or the operation has no parameters. */
  readonly exchange?: ExchangeFacts | undefined;
}

/** What a request asked for and how its answer names itself. Texts of the conversation are never part of it. */
export interface ExchangeFacts {
  readonly parameters: RequestParameters;
  readonly responseId: string | undefined;
  readonly responseModel: string | undefined;
  /** One for each answer, in the upstream's own words. */
  readonly finishReasons: readonly string[];
}

/** Parameters of the request that the upstream got; undefined ones were not sent. */
export interface RequestParameters {
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly topK: number | undefined;
  readonly maxTokens: number | undefined;
  readonly frequencyPenalty: number | undefined;
  readonly presencePenalty: number | undefined;
  readonly seed: number | undefined;
  readonly choices: number | undefined;
  readonly encodingFormats: readonly string[] | undefined;
  readonly reasoningLevel: string | undefined;
  readonly previousResponseId: string | undefined;
}

export interface CallEnd {
  /** HTTP status for the client. */
  readonly status: number;
  readonly outcome: string;
  readonly errorCode?: string | undefined;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** Parts of the input and the output; 0 = none. */
  readonly cachedInputTokens?: number | undefined;
  readonly cacheWriteTokens?: number | undefined;
  readonly reasoningTokens?: number | undefined;
  /** Charged quota units. */
  readonly quota?: number | undefined;
  readonly firstTokenMs?: number | undefined;
  /** The same from the start of the upstream call that delivered. */
  readonly upstreamFirstTokenMs?: number | undefined;
}

/** The trace exporter; `stop` sends the waiting spans. */
export interface Tracing extends Runnable {
  begin(call: CallStart): CallSpan;
}
