import type { BatchRow } from "./types.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const FIRST_PAUSES_MS = [15 * SECOND_MS, 30 * SECOND_MS];
const OLD_AFTER_MS = 120 * MINUTE_MS;
const OLD_PAUSE_MS = 5 * MINUTE_MS;
export const LONGEST_PAUSE_MS = 15 * MINUTE_MS;
/** Pauses between attempts to read results that are not there yet. */
const RESULT_PAUSES_MS = [30 * SECOND_MS, MINUTE_MS, 2 * MINUTE_MS, 5 * MINUTE_MS, 10 * MINUTE_MS, 20 * MINUTE_MS];
const LONGEST_RESULT_PAUSE_MS = 30 * MINUTE_MS;
const JITTER = 0.2;

/** Returns the pause before the next poll: short for young batches, longer after failures, and never quite the same. */
export function calculatePollPause(
  { created_at, polls }: Pick<BatchRow, "created_at" | "polls">,
  failures: number,
  { now, random }: { readonly now: number; readonly random: number },
): number {
  const isOld = now - created_at * SECOND_MS > OLD_AFTER_MS;
  const usual = isOld ? OLD_PAUSE_MS : (FIRST_PAUSES_MS[polls] ?? MINUTE_MS);
  const pause = Math.min(usual * 2 ** Math.min(failures, 10), LONGEST_PAUSE_MS);
  return Math.round(pause * (1 - JITTER + 2 * JITTER * random));
}

/** Returns the pause before the results are read again. */
export function calculateResultPause(failures: number): number {
  return RESULT_PAUSES_MS[failures] ?? LONGEST_RESULT_PAUSE_MS;
}
