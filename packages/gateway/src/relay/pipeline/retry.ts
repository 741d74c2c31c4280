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

export type RetryEnd = "not_retryable" | "too_late" | "retries_used" | "retries_off" | "bound" | "none_left";

interface RetryTerms extends RetrySettings {
  /** True if the request stays with its first channel. */
  readonly isBound?: boolean;
  readonly share?: RetryShare | undefined;
}

/** Which failures of one request lead to another attempt, and the error that the client gets when none is left. */
export class Retries {
  readonly #request: RelayRequest;
  readonly #selection: Selection;
  readonly #totalMs: number;
  readonly #share: RetryShare | undefined;
  readonly #since: number;
  /** False if only one channel may serve. */
  readonly #isFree: boolean;
  readonly #most: number;
  #retries = 0;
  #leastRestMs = Infinity;
  #hasRetriedOnce = false;
  #canRetry = true;
  /** The last failure; undefined if no channel was called. */
  last: Failure | undefined;
  /** Why no further channel is tried. */
  ended: RetryEnd;

  constructor(
    request: RelayRequest,
    snapshot: Snapshot,
    selection: Selection,
    { totalMs, isBound = false, share }: RetryTerms,
  ) {
    this.#request = request;
    this.#selection = selection;
    this.#totalMs = totalMs;
    this.#share = share;
    this.#since = share?.since ?? performance.now();
    this.#isFree = request.caller.pinnedChannel === undefined && !isBound;
    this.#most = this.#isFree ? Math.min(snapshot.options.RetryTimes, share?.most ?? Infinity) : 0;
    this.ended = request.pinnedAccount ? "bound" : "none_left";
  }

  failed(target: RouteTarget, failure: Failure): void {
    const { retry, retryOnce, restMs, isTransient, disable } = failure;
    this.last = failure;
    this.#leastRestMs = Math.min(this.#leastRestMs, restMs ?? Infinity);
    this.#canRetry = retry && !(retryOnce && this.#hasRetriedOnce);
    this.#hasRetriedOnce ||= retryOnce;
    this.#selection.failed(target, {
      isTransient: isTransient && restMs === undefined && this.#share?.repeats !== false,
      isOfKey: disable !== undefined || restMs !== undefined,
    });
  }

  /** Returns the channel to try next; undefined = give up. */
  next(): RouteTarget | undefined {
    const isLate = performance.now() - this.#since > this.#totalMs;
    if (!this.#canRetry || isLate || this.#retries >= this.#most) {
      this.ended = this.#findEnd(isLate);
      return undefined;
    }
    this.#retries++;
    return this.#selection.next();
  }

  #findEnd(isLate: boolean): RetryEnd {
    const { last } = this;
    if (!this.#canRetry && last?.retry !== true) return last?.outcome === "timeout" ? "too_late" : "not_retryable";
    if (!this.#isFree) return "bound";
    if (this.#most === 0) return "retries_off";
    return this.#canRetry && isLate ? "too_late" : "retries_used";
  }

  lastError(): AppError {
    return finalError(this.last, this.#request, { selection: this.#selection, leastRestMs: this.#leastRestMs });
  }
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
