import { STATISTICS_SPAN_CAP } from "@fairway/wire";
import { Refusal } from "../../lib/refusal.ts";
import { DAY, HOUR } from "./dimensions.ts";

interface PeriodQuery {
  readonly start_timestamp: number;
  readonly end_timestamp: number;
}

/** Returns the starts of the first and the last hour. */
export function resolvePeriod({ start_timestamp: start, end_timestamp: end }: PeriodQuery, now: number) {
  const last = end > 0 ? end : now;
  const first = start > 0 ? start : last - DAY;
  if (first > last || last - first > STATISTICS_SPAN_CAP)
    throw new Refusal("invalid_parameter", { field: "start_timestamp" });
  return { from: first - (first % HOUR), to: last - (last % HOUR) };
}
