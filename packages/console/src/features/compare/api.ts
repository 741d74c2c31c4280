import { usageStatistics, USAGE_SUBJECT_CAP, USAGE_SUM_CAP, type UsageStatistics } from "@fairway/wire";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "../../lib/http.ts";
import { nowSeconds } from "../../lib/now.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { buildPeriod, localOffset, type Period, type UsageRange } from "../../shared/usage/period.ts";

const FRESH_MS = 30_000;
const REFRESH_MS = 60_000;

export const COMPARED = ["channel", "model"] as const;
export type Compared = (typeof COMPARED)[number];

export interface Comparison {
  readonly period: Period;
  readonly answer: UsageStatistics;
}

async function readComparison(by: Compared, range: UsageRange, signal: AbortSignal): Promise<Comparison> {
  const at = nowSeconds();
  const period = buildPeriod(range, at, localOffset(at));
  const query = { by, idle: 1, start_timestamp: period.from, end_timestamp: period.to };
  const points = { interval: period.interval, utc_offset: period.offset };
  const drawn = await call(usageStatistics, { query: { ...query, ...points, limit: USAGE_SUBJECT_CAP }, signal });
  if (drawn.more_subjects === 0) return { period, answer: drawn };
  // An answer with points lists fewer subjects; the others appear in the table without a line.
  const all = await call(usageStatistics, { query: { ...query, interval: 0, limit: USAGE_SUM_CAP }, signal });
  const listed = new Set(drawn.subjects.map(({ subject }) => subject));
  const others = all.subjects.filter(({ subject }) => !listed.has(subject));
  return { period, answer: { ...all, subjects: [...drawn.subjects, ...others] } };
}

export function comparisonQuery(by: Compared, range: UsageRange) {
  return queryOptions({
    queryKey: queryKeys.statistics.compared(by, range),
    queryFn: ({ signal }) => readComparison(by, range, signal),
    staleTime: FRESH_MS,
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}
