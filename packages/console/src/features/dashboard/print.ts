import { abbreviate, formatQuota, type QuotaDisplay } from "../../lib/format.ts";
import type { Metric } from "./series.ts";
import type { Step } from "./span.ts";

export function printAmount(metric: Metric, value: number, display: QuotaDisplay, language: string): string {
  return metric === "quota" ? formatQuota(value, display, language) : abbreviate(value, language);
}

const SHORT: Record<Step, Intl.DateTimeFormatOptions> = {
  hour: { hour: "2-digit", minute: "2-digit" },
  day: { month: "short", day: "numeric" },
  week: { month: "short", day: "numeric" },
};

/** Name of a bar under the axis; the first hour of a day shows its date. */
export function printTick(start: number, step: Step, language: string): string {
  const isMidnight = new Date(start * 1000).getHours() === 0;
  return new Intl.DateTimeFormat(language, SHORT[step === "hour" && isMidnight ? "day" : step]).format(start * 1000);
}

/** Name of a bar by itself. */
export function printStart(start: number, step: Step, language: string): string {
  const date: Intl.DateTimeFormatOptions = { weekday: "short", month: "short", day: "numeric" };
  const options = step === "hour" ? { ...date, ...SHORT.hour } : date;
  return new Intl.DateTimeFormat(language, options).format(start * 1000);
}

export function printShare(part: number, whole: number, language: string): string {
  const share = whole === 0 ? 0 : part / whole;
  return new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 1 }).format(share);
}

/** +12 %, against what was before; undefined where there was nothing. */
export function printChange(value: number, before: number, language: string): string | undefined {
  if (before === 0) return undefined;
  const style = { style: "percent", maximumFractionDigits: 0, signDisplay: "exceptZero" } as const;
  return new Intl.NumberFormat(language, style).format(value / before - 1);
}
