import { milliseconds } from "../../lib/format.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/** Returns the unit of an axis of durations: all of its labels have the same. */
export function selectDurationUnit(top: number): number {
  if (top >= 2 * MINUTE_MS) return MINUTE_MS;
  return top >= SECOND_MS ? SECOND_MS : 1;
}

/** Formats a label of an axis with this unit. */
export function printDurationTick(value: number, unit: number): string {
  if (value === 0) return "0";
  const name = unit === MINUTE_MS ? "min" : unit === SECOND_MS ? "s" : "ms";
  return `${+(value / unit).toFixed(2)} ${name}`;
}

/** Formats a single duration of a chart. */
export function printDuration(value: number): string {
  return value >= 2 * MINUTE_MS ? `${+(value / MINUTE_MS).toFixed(1)} min` : milliseconds(value);
}
