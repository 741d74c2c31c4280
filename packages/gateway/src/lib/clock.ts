/** The only source of time; tests pass their own. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/**
 * Runs on where the system's clock is set back or ahead: for what lasts a while in this process alone. Times of it are
 * never compared with those of another process.
 */
export const steadyClock: Clock = { now: () => Math.floor(performance.timeOrigin + performance.now()) };

/** Epoch seconds, as the management API and most tables hold them. */
export function seconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000);
}
