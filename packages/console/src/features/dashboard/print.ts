import { abbreviate, formatQuota, type QuotaDisplay } from "../../lib/format.ts";
import type { Metric } from "./series.ts";

export function printAmount(metric: Metric, value: number, display: QuotaDisplay, language: string): string {
  return metric === "quota" ? formatQuota(value, display, language) : abbreviate(value, language);
}
