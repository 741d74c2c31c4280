const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Waits before each attempt; the first is made at once. */
const WAITS_MS = [
  0,
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];
const SPREAD = 0.1;
const MAX_RETRY_AFTER_MS = 24 * HOUR;
/** An endpoint that hangs is asked again after half an hour at most, so that its recovery is noticed. */
const LONGEST_PAUSE_AT = 3;
const TIMEOUTS_BEFORE_PAUSE = 3;

/** Returns the wait after `attempts` attempts that failed; undefined after the last one. */
export function calculateWait(
  attempts: number,
  { random, retryAfterMs = 0 }: { readonly random: () => number; readonly retryAfterMs?: number | undefined },
): number | undefined {
  const wait = WAITS_MS[attempts];
  if (wait === undefined) return undefined;
  const spread = Math.round(wait * (1 - SPREAD + 2 * SPREAD * random()));
  return Math.max(spread, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
}

/** Returns how long an endpoint that did not answer in time so often is left alone; 0 for the first times. */
export function calculatePause(timeouts: number, random: () => number): number {
  if (timeouts < TIMEOUTS_BEFORE_PAUSE) return 0;
  return calculateWait(Math.min(timeouts - TIMEOUTS_BEFORE_PAUSE + 1, LONGEST_PAUSE_AT), { random }) ?? 0;
}

/** Reads the header: seconds or a date. */
export function readRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * SECOND : Date.parse(header) - nowMs;
  return ms > 0 ? ms : undefined;
}
