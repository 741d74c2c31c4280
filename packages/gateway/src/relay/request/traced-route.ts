import type { Failure } from "../upstream/failure.ts";

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
  readonly failure: Pick<Failure, "error" | "outcome" | "said">;
  readonly endedAt: number;
  /** Why no further channel was tried; undefined where one was. */
  end: string | undefined;
}
