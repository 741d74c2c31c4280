import type { Budget } from "@fairway/wire";
import type { useTexts } from "./texts.ts";

/** Text keys of the budget periods; that of `hours` names their number. */
const PERIOD_TEXT = {
  hour: "periodHour",
  day: "periodDay",
  week: "periodWeek",
  month: "periodMonth",
  quarter: "periodQuarter",
  year: "periodYear",
  total: "periodTotal",
} as const;

/** Returns the period of a budget, such as "per month" or "in 5 hours". */
export function describePeriod(
  t: ReturnType<typeof useTexts>,
  { period, length }: Pick<Budget, "period" | "length">,
): string {
  return period === "hours" ? t("periodHours", { length }) : t(PERIOD_TEXT[period]);
}
