import { logListSelf, pricingList, selfGroups, type PricingRow } from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call, request } from "../../lib/http.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { FRESH_STATIC_MS } from "../../lib/query.ts";

export const groupsQuery = queryOptions({
  queryKey: queryKeys.groups.own,
  queryFn: ({ signal }) => call(selfGroups, { signal }),
  staleTime: FRESH_STATIC_MS,
});

/** Which group may use which model; the group ratios are next to the rows. */
export const modelsByGroupQuery = queryOptions({
  queryKey: queryKeys.playground.models,
  queryFn: async ({ signal }) => {
    const { data } = await request(pricingList, { signal });
    return new Map(data.map((row: PricingRow) => [row.model_name, new Set(row.enable_groups)]));
  },
  staleTime: FRESH_STATIC_MS,
});

const TRIES = 16;

class NotYet extends Error {}

/** Reads the charge of a request from its log row, which a busy gateway may write half a minute later. */
export function chargeQuery(requestId: string) {
  return queryOptions({
    queryKey: queryKeys.playground.charge(requestId),
    queryFn: async ({ signal }) => {
      const { items } = await call(logListSelf, { query: { p: 1, page_size: 1, request_id: requestId }, signal });
      const [row] = items;
      if (!row) throw new NotYet();
      return row.quota;
    },
    staleTime: Infinity,
    retry: (count, problem) => problem instanceof NotYet && count < TRIES,
    retryDelay: (count) => Math.min(2_000, 500 * 2 ** count),
  });
}
