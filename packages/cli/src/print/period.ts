import type { Budget } from "@fairway/wire";

/** Returns what a limit holds for: `a month`, `in 5 hours from the first request`, `in total`. */
export function describePeriod({ period, length }: Pick<Budget, "period" | "length">): string {
  if (period === "total") return "in total";
  if (period === "hours") return `in ${length} hours from the first request`;
  return period === "hour" ? "an hour" : `a ${period}`;
}
