import { AppError } from "../../lib/app-error.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import type { Failure } from "../upstream/failure.ts";
import type { RouteTarget, Selection } from "../selection/types.ts";
import type { RelayRequest } from "../request/request.ts";

export interface RetrySettings {
  /** No new attempt begins after this many milliseconds. */
  readonly totalMs: number;
}

/** The share of one model in the attempts of a request that may fall back to others. */
export interface RetryShare {
  /** Monotonic milliseconds of the first attempt of the request. */
  readonly since: number;
  /** Most attempts after the first one of this model. */
  readonly most: number;
  /** False if further models come before a second attempt on the same channel. */
  readonly repeats: boolean;
}

/** Which failures lead to another attempt, and the error that the client gets when none is left. */
export interface Retries {
  failed(target: RouteTarget, failure: Failure): void;
  /** Returns the channel to try next; undefined = give up. */
  next(): RouteTarget | undefined;
  lastError(): AppError;
  /** The last failure; undefined if no channel was called. */
  readonly last: Failure | undefined;
  /** Why no further channel is tried. */
  readonly ended: RetryEnd;
}

export type RetryEnd = "not_retryable" | "too_late" | "retries_used" | "retries_off" | "bound" | "none_left";

/** Counts the attempts of one request and decides about the next one. */
export function createRetries(
  request: RelayRequest,
  snapshot: Snapshot,
  selection: Selection,
  settings: RetrySettings & { readonly share?: RetryShare | undefined },
): Retries {
  const { totalMs, share } = settings;
  const isFree = request.caller.pinnedChannel === undefined && request.isBound !== true;
  const most = isFree ? Math.min(snapshot.options.RetryTimes, share?.most ?? Infinity) : 0;
  const since = share?.since ?? performance.now();
  let retries = 0;
  let leastRestMs = Infinity;
  let last: Failure | undefined;
  let hasRetriedOnce = false;
  let canRetry = true;
  let ended: RetryEnd = request.pinnedAccount ? "bound" : "none_left";

  const findEnd = (isLate: boolean): RetryEnd => {
    if (!canRetry && last?.retry !== true) return last?.outcome === "timeout" ? "too_late" : "not_retryable";
    if (!isFree) return "bound";
    if (most === 0) return "retries_off";
    return canRetry && isLate ? "too_late" : "retries_used";
  };

  return {
    failed(target, failure) {
      last = failure;
      leastRestMs = Math.min(leastRestMs, failure.restMs ?? Infinity);
      canRetry = failure.retry && !(failure.retryOnce && hasRetriedOnce);
      hasRetriedOnce ||= failure.retryOnce;
      selection.failed(target, {
        isTransient: failure.isTransient && failure.restMs === undefined && share?.repeats !== false,
        isOfKey: failure.disable !== undefined || failure.restMs !== undefined,
      });
    },
    next() {
      const isLate = performance.now() - since > totalMs;
      if (!canRetry || isLate || retries >= most) {
        ended = findEnd(isLate);
        return undefined;
      }
      retries++;
      return selection.next();
    },
    lastError: () => finalError(last, request, { selection, leastRestMs }),
    get ended() {
      return ended;
    },
    get last() {
      return last;
    },
  };
}

interface Tried {
  readonly selection: Selection;
  /** The shortest rest of all failed keys; infinite if no key rests. */
  readonly leastRestMs: number;
}

/** Returns the client's error. If every channel failed for good, the client's own retries would only fail again. */
function finalError(last: Failure | undefined, request: RelayRequest, { selection, leastRestMs }: Tried): AppError {
  if (!last)
    return new AppError("no_available_channel", {
      values: { model: request.spec.model, group: request.caller.group },
      retryAfterMs: 5_000,
    });
  const isForGood = !last.isTransient && selection.isExhausted;
  if (last.error.status !== 429 || last.error.origin !== "upstream")
    return isForGood ? last.error.asFinal() : last.error;
  const rests = [leastRestMs, selection.restsForMs ?? Infinity].filter((ms) => ms > 0 && ms !== Infinity);
  return new AppError("upstream_saturated", {
    values: { group: request.caller.group },
    retryAfterMs: rests.length > 0 ? Math.min(...rests) : undefined,
    cause: last.error,
  });
}
