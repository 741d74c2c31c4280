import { milliseconds } from "../../lib/format.ts";
import { MINUTE_MS } from "../../ui/chart/axis.ts";

/** Formats a single duration of a chart. */
export function printDuration(value: number): string {
  return value >= 2 * MINUTE_MS ? `${+(value / MINUTE_MS).toFixed(1)} min` : milliseconds(value);
}
