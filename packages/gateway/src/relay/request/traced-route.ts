// What a request records about its route while it is served: the channels of its model, and the attempts that failed.
import type { ChannelStrategy } from "@fairway/wire";
import type { AppError } from "../../lib/app-error.ts";
import type { Outcome } from "./outcome.ts";

/** A channel in the order of the draw; `skipped` says why it was left out, "" if it was tried. */
export type CandidateEntry = readonly [
  channel: number,
  group: string,
  priority: number,
  weight: number,
  skipped: string,
  waitMs?: number,
];

/**
 * A draw of a strategy: the channel that was taken with its measure, and the other one that was drawn; a measure is
 * undefined if it was not known.
 */
export type ChannelDraw = readonly [
  taken: number,
  measure: number | undefined,
  other?: number,
  measure?: number | undefined,
];

/** The channels of a model as a selection sees them. */
export interface TracedCandidates {
  /** At most `MAX_CANDIDATES`. */
  readonly entries: readonly CandidateEntry[];
  /** Channels that could have served. */
  readonly open: number;
  /** Number of all channels, listed or not. */
  readonly total: number;
  /** The strategy that chose, and its draws; absent for draws by weight. */
  readonly strategy?: ChannelStrategy;
  readonly draws?: readonly ChannelDraw[];
}

/** Most candidates that a trace has room for. */
export const MAX_CANDIDATES = 16;

/** What a trace records of an attempt. */
export interface TracedAttempt {
  readonly target: {
    readonly channel: { readonly id: number };
    readonly keyIndex: number;
    readonly upstreamModel: string;
  };
  /** Milliseconds of the monotonic clock. */
  readonly startedAt: number;
  readonly headAt: number | undefined;
  /** 0 = the upstream did not answer. */
  readonly status: number;
  readonly upstreamHost: string;
  readonly upstreamRequestId: string | undefined;
}

export interface FailedAttempt {
  readonly attempt: TracedAttempt;
  readonly failure: {
    readonly error: AppError;
    readonly outcome: Outcome;
    /** The upstream's own message, masked; for operators. */
    readonly said?: string;
  };
  readonly endedAt: number;
  /** Why no further channel was tried; undefined if one was. */
  readonly end: string | undefined;
}
