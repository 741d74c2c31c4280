import {
  batchTotals,
  batchTotalsSelf,
  cacheUsage,
  cacheUsageSelf,
  type BatchTotals,
  type CacheUsage,
} from "@fairway/wire";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "../../../lib/http.ts";
import { queryKeys } from "../../../lib/query-keys.ts";
import type { Bounds } from "../../../lib/range.ts";
import type { UsageFilter } from "../api.ts";

/** What is shown: a span with its name, of everyone or one user. */
export interface SavingsAsked extends UsageFilter {
  readonly name: string;
  readonly span: () => Bounds;
}

export type CacheGroup = "all" | "channel" | "token";

const FRESH = { staleTime: 60_000, refetchInterval: 300_000, placeholderData: keepPreviousData } as const;

function period(span: () => Bounds) {
  const { from, to } = span();
  return { start_timestamp: from, end_timestamp: to };
}

/** Sums what prompt caches did, in one row or by channel or token. */
export function cachesQuery(by: CacheGroup, { name, span, isAdmin, user }: SavingsAsked) {
  return queryOptions({
    queryKey: queryKeys.usage.by("caches", by, name, isAdmin, user),
    queryFn: ({ signal }): Promise<CacheUsage[]> =>
      isAdmin
        ? call(cacheUsage, { query: { by, ...period(span), username: user }, signal })
        : call(cacheUsageSelf, { query: { by, ...period(span) }, signal }),
    ...FRESH,
  });
}

/** Sums the batches that are open, and those that were settled in the span. */
export function batchesQuery({ name, span, isAdmin, user }: SavingsAsked) {
  return queryOptions({
    queryKey: queryKeys.usage.by("batches", name, isAdmin, user),
    queryFn: ({ signal }): Promise<BatchTotals> =>
      isAdmin
        ? call(batchTotals, { query: { ...period(span), username: user }, signal })
        : call(batchTotalsSelf, { query: period(span), signal }),
    ...FRESH,
  });
}
