/** The only source of time; tests pass their own. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** Epoch seconds, as the management API and most tables hold them. */
export function seconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000);
}
