import { logStat, logStatSelf, usageAll, usageSelf } from "@fairway/wire";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "../../lib/http.ts";
import { queryClient } from "../../lib/query.ts";
import type { Bounds } from "../../lib/range.ts";

export interface UsageFilter {
  readonly isAdmin: boolean;
  /** Of administrators: rows of this user only. */
  readonly user: string;
}

/** Sums of hours change slowly; the span moves with the minute, so the key leaves it out. */
const FRESH_MS = 60_000;
const REFRESH_MS = 300_000;

export function usageQuery(name: string, span: () => Bounds, filter: UsageFilter) {
  return queryOptions({
    queryKey: ["usage", name, filter],
    queryFn: async ({ signal }) => {
      const bounds = span();
      const query = { start_timestamp: bounds.from, end_timestamp: bounds.to };
      const rows = filter.isAdmin
        ? await call(usageAll, { query: { ...query, username: filter.user }, signal })
        : await call(usageSelf, { query, signal });
      return { bounds, rows };
    },
    staleTime: FRESH_MS,
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}

/** Requests and tokens of the last minute. */
export function rateQuery(filter: UsageFilter) {
  return queryOptions({
    queryKey: ["usage", "rate", filter],
    queryFn: ({ signal }) =>
      filter.isAdmin
        ? call(logStat, { query: { username: filter.user }, signal })
        : call(logStatSelf, { query: {}, signal }),
    refetchInterval: FRESH_MS,
  });
}

export function refreshUsage(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ["usage"] });
}
