import { usageStatistics, usageStatisticsSelf, type UsageDimension, type UsageStatistics } from "@fairway/wire";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "../../lib/http.ts";
import { nowSeconds } from "../../lib/now.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { localOffset, periodBefore, buildPeriod, type Period, type UsageRange } from "./period.ts";

const FRESH_MS = 30_000;
const REFRESH_MS = 60_000;

export interface UsageSubjectQuery {
  readonly by: UsageDimension;
  /** "" = all subjects. */
  readonly subject: string;
  readonly range: UsageRange;
  /** The caller's own numbers, which every user may read. */
  readonly isOwn: boolean;
  /** For administrators: only calls of this user. */
  readonly userId?: number;
  /** Only calls with keys of this team. */
  readonly teamId?: number;
}

export interface UsageOverTime {
  readonly period: Period;
  readonly now: UsageStatistics;
  readonly before: UsageStatistics;
}

async function read(
  { by, subject, isOwn, userId = 0, teamId }: UsageSubjectQuery,
  period: Period,
  signal: AbortSignal,
): Promise<UsageStatistics> {
  const query = {
    by,
    subject,
    start_timestamp: period.from,
    end_timestamp: period.to,
    interval: period.interval,
    utc_offset: period.offset,
  };
  // Pages without teams do not carry their calls.
  if (teamId !== undefined) return (await import("./team-usage.ts")).readTeamUsage(teamId, query, signal);
  return isOwn
    ? call(usageStatisticsSelf, { query, signal })
    : call(usageStatistics, { query: { ...query, user_id: userId }, signal });
}

/** The subjects of a dimension without points, most quota first. */
export function subjectsQuery(asked: Omit<UsageSubjectQuery, "subject">) {
  return queryOptions({
    queryKey: queryKeys.statistics.subjects(asked),
    queryFn: ({ signal }) => {
      const at = nowSeconds();
      const period = buildPeriod(asked.range, at, localOffset(at));
      return read({ ...asked, subject: "" }, { ...period, interval: 0 }, signal);
    },
    staleTime: FRESH_MS,
    placeholderData: keepPreviousData,
  });
}

/** The figures of one subject without points, in one call. */
export function usageTotalQuery(asked: UsageSubjectQuery) {
  return queryOptions({
    queryKey: queryKeys.statistics.total(asked),
    queryFn: async ({ signal }) => {
      const at = nowSeconds();
      const period = buildPeriod(asked.range, at, localOffset(at));
      return (await read(asked, { ...period, interval: 0 }, signal)).total;
    },
    staleTime: FRESH_MS,
  });
}

/** Figures and points of one subject, or of everything, for this and the previous period. */
export function usageOverTimeQuery(asked: UsageSubjectQuery) {
  return queryOptions({
    queryKey: queryKeys.statistics.overTime(asked),
    queryFn: async ({ signal }): Promise<UsageOverTime> => {
      const at = nowSeconds();
      const period = buildPeriod(asked.range, at, localOffset(at));
      const [now, before] = await Promise.all([read(asked, period, signal), read(asked, periodBefore(period), signal)]);
      return { period, now, before };
    },
    staleTime: FRESH_MS,
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}
