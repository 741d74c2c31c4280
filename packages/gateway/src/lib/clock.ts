/** The only source of time; tests pass their own. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/**
 * A clock that continues when the system's clock is set back or ahead, for durations within this process. Its times are
 * never compared with those of another process.
 */
export const steadyClock: Clock = { now: () => Math.floor(performance.timeOrigin + performance.now()) };

/** Returns epoch seconds, which the management API and most tables use. */
export function seconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000);
}
