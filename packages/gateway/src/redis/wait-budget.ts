/** How long a client waits for Redis when there is a fallback, and whether a request is waiting now. */
export interface WaitBudget {
  readonly ms: number;
  /** True if another request has just timed out: then do not wait. */
  readonly isOver: boolean;
  waitedTooLong(): void;
}

/** Long enough for many answers from a Redis in the same zone. */
const USUAL_MS = 50;
const REST_MS = 1_000;

/** Creates one budget for all waits of a request, so that it waits only once. */
export function createWaitBudget(ms: number = USUAL_MS): WaitBudget {
  let overUntil = -Infinity;
  return {
    ms,
    get isOver() {
      return performance.now() < overUntil;
    },
    waitedTooLong: () => void (overUntil = performance.now() + REST_MS),
  };
}
