import type { Runnable } from "../../lib/async/runnable.ts";

/** The events of one call that the relay reports to a trace. Times are milliseconds of the monotonic clock. */
export interface CallSpan {
  /** Undefined for a call that is not sampled, because its trace cannot be found. */
  readonly traceId: string | undefined;
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
}

export interface AttemptEnd {
  /** 0 = the upstream did not answer. */
  readonly status: number;
  /** Host and port; "" if nothing was sent. */
  readonly host: string;
  readonly upstreamRequestId: string | undefined;
  /** Code of the failure; undefined for a delivered answer. */
  readonly errorCode: string | undefined;
}

export interface CallEnd {
  /** HTTP status for the client. */
  readonly status: number;
  readonly outcome: string;
  readonly errorCode?: string | undefined;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** Charged quota units. */
  readonly quota?: number | undefined;
  readonly firstTokenMs?: number | undefined;
}

/** The trace exporter; `stop` sends the waiting spans. */
export interface Tracing extends Runnable {
  begin(call: CallStart): CallSpan;
}
