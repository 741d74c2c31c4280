import { abbreviate, formatQuota, formatShare, type QuotaDisplay } from "../../lib/format.ts";
import { printDuration } from "../../shared/usage/durations.ts";
import {
  buildCountAxis,
  buildDurationAxis,
  buildQuotaAxis,
  buildShareAxis,
  type ChartAxis,
} from "../../ui/chart/axis.ts";
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
export function buildAxis(measure: Measure, { display, language }: Style): ChartAxis {
  if (measure === "spend") return buildQuotaAxis(display, language);
  if (measure === "errors") return buildShareAxis(language);
  return measure === "calls" || measure === "rate" ? buildCountAxis(language) : buildDurationAxis(language);
}
