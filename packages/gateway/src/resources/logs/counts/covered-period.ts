import { seconds } from "../../../lib/clock.ts";
import type { LogQuery, Period } from "../filter.ts";
import { DAY, HOUR } from "../../statistics/dimensions.ts";
import { calculatePastEnd, roundUp, readGapTime, type Hours } from "./hours.ts";
import type { SumsDeps } from "./sums-deps.ts";
import { isWhole, findOldestTime, findOldestErrorTime } from "./oldest-rows.ts";

/**
 * The sums to use: the topic of the time up to which they may lack rows, and the seconds of their shortest interval.
 */
export interface Wanted {
  readonly gapTopic: string;
  readonly step: number;
}

/** The part of a period that sums cover. */
export interface Covered {
  readonly hours: Hours;
  /** Start of the first interval with all its failed calls. */
  readonly errorsFrom: number;
  /** Time of the oldest failed call of the period. */
  readonly oldestError: number;
  /** Time of the oldest row of the log. */
  readonly oldest: number;
}

/** A time after all rows, at the start of a day: sums contain each row up to their mark, whatever its time. */
const OPEN_END = 1_000_000 * DAY;

/** Returns undefined if reading the rows is as quick. */
export async function coveredPeriod(
  deps: SumsDeps,
  { query, period }: { readonly query: LogQuery; readonly period: Period },
  { gapTopic, step }: Wanted,
): Promise<Covered | undefined> {
  const [oldest, gap] = await Promise.all([findOldestTime(deps), readGapTime(deps, gapTopic)]);
  if (oldest === undefined) return undefined;
  const from = roundUp(Math.max(await resolveBegin(deps, period, oldest), gap), step);
  const isOpen = period.to === 0;
  const to = isOpen ? OPEN_END : calculatePastEnd(deps, period.to, step);
  if (isOpen ? from > seconds(deps.clock) : to - from < HOUR) return undefined;
  const rest = { from: Math.max(period.from, oldest), to: period.to };
  const oldestError = await findOldestErrorTime(deps, query, rest);
  const errorsFrom = Math.min(to, Math.max(from, await resolveErrorsBegin(deps, { from, to, oldestError, step })));
  return { hours: { from, to }, errorsFrom, oldestError, oldest };
}

/**
 * Returns the start of the sums. If the log begins within the period, this is the start of its first day, unless that
 * day has lost rows.
 */
async function resolveBegin(deps: SumsDeps, { from }: Period, oldest: number): Promise<number> {
  if (oldest < from) return from;
  const day = oldest - (oldest % DAY);
  return (await isWhole(deps, { from: day, oldest, isOfErrors: false })) ? day : oldest;
}

interface Errors extends Hours {
  readonly oldestError: number;
  readonly step: number;
}

/** Returns the start for failed calls, which are removed earlier than other rows. */
async function resolveErrorsBegin(deps: SumsDeps, { from, to, oldestError, step }: Errors): Promise<number> {
  if (oldestError <= from || oldestError >= to) return oldestError;
  const begin = Math.max(from, oldestError - (oldestError % DAY));
  const errors = { from: begin, oldest: oldestError, isOfErrors: true };
  return (await isWhole(deps, errors)) ? begin : roundUp(oldestError, step);
}
