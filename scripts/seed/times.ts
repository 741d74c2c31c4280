import type { SeedPlan } from "./plan.ts";
import type { Random } from "./random.ts";

const HOURS_A_DAY = 24;
const HOUR_SECONDS = 3_600;
/** Share of each hour of a working day, UTC. */
const DAY = [2, 1, 1, 1, 1, 2, 4, 7, 10, 12, 12, 11, 10, 11, 12, 12, 11, 9, 8, 7, 6, 5, 4, 3] as const;
const WEEKEND = 0.4;
/** The usage in the first hour as a share of the last, because usage grows. */
const BEGINNING = 0.6;

/** Yields `plan.logs` times in milliseconds, ascending: busy days, quiet nights and weekends, and slow growth. */
export function* createTimes({ logs, days, until }: SeedPlan, random: Random): Generator<number> {
  const hours = days * HOURS_A_DAY;
  const start = until - hours * HOUR_SECONDS;
  const weights = Array.from({ length: hours }, (_, hour) =>
    calculateWeight(start + hour * HOUR_SECONDS, hour / hours),
  );
  const sum = weights.reduce((total, weight) => total + weight, 0);
  let reached = 0;
  let done = 0;
  for (const [hour, weight] of weights.entries()) {
    reached += weight;
    const end = hour === hours - 1 ? logs : Math.round((reached / sum) * logs);
    const step = (HOUR_SECONDS * 1_000) / Math.max(1, end - done);
    const from = (start + hour * HOUR_SECONDS) * 1_000;
    for (let i = 0; done < end; i++, done++) yield Math.floor(from + (i + random()) * step);
  }
}

function calculateWeight(seconds: number, progress: number): number {
  const at = new Date(seconds * 1_000);
  const isWeekend = at.getUTCDay() % 6 === 0;
  return (DAY[at.getUTCHours()] ?? 1) * (isWeekend ? WEEKEND : 1) * (BEGINNING + (1 - BEGINNING) * progress);
}
