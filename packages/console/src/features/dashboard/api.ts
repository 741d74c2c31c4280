import { logStat, logStatSelf, usageStatistics, usageStatisticsSelf, type UsageStatistics } from "@fairway/wire";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "../../lib/http.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { queryClient } from "../../lib/query.ts";
import type { Bounds } from "../../lib/range.ts";
import { localOffset } from "../../shared/usage/period.ts";
import type { Dimension } from "./dimension.ts";
import { compareFinishedHours, type Step } from "./span.ts";

export interface UsageFilter {
  readonly isAdmin: boolean;
  /** For administrators: only rows of this user. */
  readonly user: string;
}

/** Sums of hours change slowly; the span moves with each minute, so the key leaves it out. */
const FRESH_MS = 60_000;
const REFRESH_MS = 300_000;

const HOUR = 3_600;
const DAY = 86_400;
const MAX_SUBJECTS = 200;
/** Hourly points are many, so fewer subjects get them. */
const MAX_SUBJECTS_BY_HOUR = 50;

interface DimensionAsked extends UsageFilter {
  readonly dimension: Dimension;
  readonly resolveStep: (bounds: Bounds) => Step;
}

interface SumsQuery {
  readonly by: Dimension;
  readonly start_timestamp: number;
  readonly end_timestamp: number;
  /** Seconds of a point; 0 = sums only. */
  readonly interval: number;
  readonly utc_offset: number;
  readonly limit: number;
}

function readSums({ isAdmin, user }: UsageFilter, query: SumsQuery, signal: AbortSignal): Promise<UsageStatistics> {
  return isAdmin
    ? call(usageStatistics, { query: { ...query, username: user }, signal })
    : call(usageStatisticsSelf, { query, signal });
}

/** Everything that the page draws, from one answer: subjects, their points, and the sums over all subjects. */
export function dimensionQuery(name: string, span: () => Bounds, asked: DimensionAsked) {
  const { dimension, isAdmin, user, resolveStep } = asked;
  return queryOptions({
    queryKey: queryKeys.usage.by(dimension, name, isAdmin, user),
    queryFn: async ({ signal }): Promise<{ bounds: Bounds; answer: UsageStatistics }> => {
      const bounds = span();
      const isByHour = resolveStep(bounds) === "hour";
      const query = {
        by: dimension,
        start_timestamp: bounds.from,
        end_timestamp: bounds.to,
        interval: isByHour ? HOUR : DAY,
        utc_offset: localOffset(bounds.to),
        limit: isByHour ? MAX_SUBJECTS_BY_HOUR : MAX_SUBJECTS,
      };
      return { bounds, answer: await readSums(asked, query, signal) };
    },
    staleTime: FRESH_MS,
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}

/** Sums of the finished hours of a span, and of as many hours before it. */
export interface Comparison {
  readonly hours: number;
  readonly now: UsageStatistics["total"];
  readonly before: UsageStatistics["total"];
}

/** Sums finished hours of the span and as many hours before it; undefined while none is finished. */
export function comparisonQuery(name: string, span: () => Bounds, asked: Omit<DimensionAsked, "resolveStep">) {
  const { dimension, isAdmin, user } = asked;
  return queryOptions({
    queryKey: queryKeys.usage.by(dimension, `compared ${name}`, isAdmin, user),
    queryFn: async ({ signal }): Promise<Comparison | null> => {
      const compared = compareFinishedHours(span());
      if (!compared) return null;
      const read = ({ from, to }: Bounds) =>
        readSums(
          asked,
          { by: dimension, start_timestamp: from, end_timestamp: to, interval: 0, utc_offset: 0, limit: 1 },
          signal,
        );
      const [now, before] = await Promise.all([read(compared.now), read(compared.before)]);
      return { hours: compared.hours, now: now.total, before: before.total };
    },
    staleTime: FRESH_MS,
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}

/** Requests and tokens of the last minute. */
export function rateQuery(filter: UsageFilter) {
  return queryOptions({
    queryKey: queryKeys.usage.rate(filter),
    queryFn: ({ signal }) =>
      filter.isAdmin
        ? call(logStat, { query: { username: filter.user }, signal })
        : call(logStatSelf, { query: {}, signal }),
    refetchInterval: FRESH_MS,
  });
}

export function refreshUsage(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: queryKeys.usage.all });
}
