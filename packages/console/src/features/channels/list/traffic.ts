import { usageStatistics, USAGE_SUM_CAP, type UsageSubject } from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../../lib/http.ts";
import { nowSeconds } from "../../../lib/now.ts";
import { queryKeys } from "../../../lib/query-keys.ts";
import type { Grade } from "../../../ui/display/mark.tsx";
import { responseGrade } from "../response-grade.ts";

const HOUR = 3_600;
const REFRESH_MS = 60_000;

/** What the requests of the last hour showed of a channel. */
export type Traffic = Pick<UsageSubject, "calls" | "errors" | "latency">;

export const trafficQuery = queryOptions({
  queryKey: queryKeys.statistics.traffic,
  queryFn: async ({ signal }): Promise<ReadonlyMap<number, Traffic>> => {
    const query = { by: "channel", start_timestamp: nowSeconds() - HOUR, interval: 0, limit: USAGE_SUM_CAP };
    const { subjects } = await call(usageStatistics, { query, signal });
    return new Map(subjects.map((one) => [Number(one.subject), one]));
  },
  refetchInterval: REFRESH_MS,
  staleTime: REFRESH_MS / 2,
});

/** Above these shares of failed attempts a channel is in trouble, however fast the others are. */
const MANY_ERRORS = 0.2;
const SOME_ERRORS = 0.05;

export interface TrafficState {
  readonly grade: Grade;
  /** Milliseconds that half of the successful attempts did not exceed; undefined if none succeeded. */
  readonly typical: number | undefined;
  /** Shown next to it where many attempts fail. */
  readonly errorShare: number | undefined;
}

/** Grades a channel by its attempts; undefined without any. */
export function gradeTraffic(traffic: Traffic | undefined): TrafficState | undefined {
  if (!traffic || traffic.calls === 0) return undefined;
  const { calls, errors, latency } = traffic;
  const share = errors / calls;
  const typical = latency.count > 0 ? latency.p50 : undefined;
  if (typical === undefined && errors === 0) return undefined;
  const grade =
    share >= MANY_ERRORS ? "red" : share >= SOME_ERRORS ? "orange" : responseGrade(Math.max(1, typical ?? 0));
  return { grade, typical, errorShare: share >= SOME_ERRORS || typical === undefined ? share : undefined };
}
