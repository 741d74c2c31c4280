import { abbreviate, formatQuota, formatShare, type QuotaDisplay } from "../../lib/format.ts";
import { printDuration, printDurationTick, selectDurationUnit } from "../../shared/usage/durations.ts";
import type { Measure } from "./measures.ts";

interface Style {
  readonly display: QuotaDisplay;
  readonly language: string;
}

export function printMeasure(measure: Measure, value: number, { display, language }: Style): string {
  if (measure === "spend") return formatQuota(value, display, language);
  if (measure === "errors") return formatShare(value, 1, language, 1);
  if (measure === "calls" || measure === "rate") return abbreviate(Math.round(value), language);
  return printDuration(value);
}

/** Returns how a chart of this measure labels its axis. */
export function buildAxis(measure: Measure) {
  const isDuration = !["calls", "rate", "errors", "spend"].includes(measure);
  return isDuration ? { selectUnit: selectDurationUnit, printTick: printDurationTick } : {};
}
