import { AppError } from "../lib/app-error.ts";
import type { Snapshot } from "../snapshot/types.ts";
import type { Failure } from "./failure.ts";
import type { Choice, Selection } from "./select.ts";
import type { RelayRequest } from "./types.ts";

export interface RetrySettings {
  /** No new attempt after this many milliseconds. */
  readonly totalMs: number;
}

/** Which failures lead to another attempt, and what the client is told when none is left. */
export interface Retries {
  failed(choice: Choice, failure: Failure): void;
  /** The channel to try next; undefined = give up. */
  next(): Choice | undefined;
  lastError(): AppError;
}

export function createRetries(
  request: RelayRequest,
  snapshot: Snapshot,
  selection: Selection,
  settings: RetrySettings,
): Retries {
  const isFree = request.caller.pinnedChannel === undefined && request.isBound !== true;
  const most = isFree ? snapshot.options.RetryTimes : 0;
  let retries = 0;
  let last: Failure | undefined;
  let hasRetriedOnce = false;
  let canRetry = true;

  return {
    failed(choice, failure) {
      last = failure;
      canRetry = failure.retry && !(failure.retryOnce && hasRetriedOnce);
      hasRetriedOnce ||= failure.retryOnce;
      selection.failed(choice, {
        isTransient: failure.isTransient && failure.restMs === undefined,
        isOfKey: failure.disable !== undefined || failure.restMs !== undefined,
      });
    },
    next() {
      const isLate = performance.now() - request.startedAt > settings.totalMs;
      if (!canRetry || isLate || retries >= most) return undefined;
      retries++;
      return selection.next();
    },
    lastError: () => finalError(last, request, selection),
  };
}

function finalError(last: Failure | undefined, request: RelayRequest, selection: Selection): AppError {
  if (!last)
    return new AppError("no_available_channel", {
      values: { model: request.ask.model, group: request.caller.group },
      retryAfterMs: 5_000,
    });
  if (last.error.status !== 429 || last.error.origin !== "upstream") return last.error;
  const rests = [last.restMs, selection.restsForMs].filter((ms) => ms !== undefined && ms > 0) as number[];
  return new AppError("upstream_saturated", {
    values: { group: request.caller.group },
    retryAfterMs: rests.length > 0 ? Math.min(...rests) : undefined,
    cause: last.error,
  });
}
