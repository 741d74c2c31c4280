/** How long a client waits for Redis when there is a fallback, and whether a request is waiting now. */
export interface WaitBudget {
  readonly ms: number;
  /** Another request timed out a moment ago: do not wait. */
  readonly isOver: boolean;
  waitedTooLong(): void;
}

/** Two answers of a Redis in the same zone fit many times. */
const USUAL_MS = 50;
const REST_MS = 1_000;

/** One for everything that a request waits for, so that it waits once. */
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
