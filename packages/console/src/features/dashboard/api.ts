import {
  logStat,
  logStatSelf,
  usageAll,
  usageSelf,
  usageStatistics,
  usageStatisticsSelf,
  type UsageStatistics,
} from "@fairway/wire";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "../../lib/http.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { queryClient } from "../../lib/query.ts";
import type { Bounds } from "../../lib/range.ts";
import { localOffset } from "../../shared/usage/period.ts";
import type { Dimension } from "./dimension.ts";
import type { Step } from "./span.ts";

export interface UsageFilter {
  readonly isAdmin: boolean;
  /** For administrators: only rows of this user. */
  readonly user: string;
}

/** Sums of hours change slowly; the span moves with the minute, so the key leaves it out. */
const FRESH_MS = 60_000;
const REFRESH_MS = 300_000;

export function usageQuery(name: string, span: () => Bounds, filter: UsageFilter & { readonly isOn: boolean }) {
  return queryOptions({
    queryKey: queryKeys.usage.table(name, filter),
    queryFn: async ({ signal }) => {
      const bounds = span();
      const query = { start_timestamp: bounds.from, end_timestamp: bounds.to };
      const rows = filter.isAdmin
        ? await call(usageAll, { query: { ...query, username: filter.user }, signal })
        : await call(usageSelf, { query, signal });
      return { bounds, rows };
    },
    enabled: filter.isOn,
    staleTime: FRESH_MS,
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}

const HOUR = 3_600;
const DAY = 86_400;
const MOST_SUBJECTS = 200;
/** Points of hours are many: fewer subjects have them. */
const MOST_BY_HOUR = 50;

interface DimensionAsked {
  readonly dimension: Dimension;
  readonly isAdmin: boolean;
  /** Undefined = sums only. */
  readonly stepOf: ((bounds: Bounds) => Step) | undefined;
  readonly isOn: boolean;
}

/** Calls, errors and percentiles of each subject, and its points where they are drawn. */
export function dimensionQuery(name: string, span: () => Bounds, asked: DimensionAsked) {
  const { dimension, isAdmin, stepOf } = asked;
  return queryOptions({
    queryKey: queryKeys.usage.by(dimension, name, isAdmin, stepOf !== undefined),
    queryFn: async ({ signal }): Promise<{ bounds: Bounds; answer: UsageStatistics }> => {
      const bounds = span();
      const isByHour = stepOf?.(bounds) === "hour";
      const query = {
        by: dimension,
        start_timestamp: bounds.from,
        end_timestamp: bounds.to,
        interval: stepOf === undefined ? 0 : isByHour ? HOUR : DAY,
        utc_offset: localOffset(bounds.to),
        limit: isByHour ? MOST_BY_HOUR : MOST_SUBJECTS,
      };
      const answer = await (isAdmin
        ? call(usageStatistics, { query, signal })
        : call(usageStatisticsSelf, { query, signal }));
      return { bounds, answer };
    },
    enabled: asked.isOn,
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
