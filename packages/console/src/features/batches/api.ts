import { batchAbandon, batchCancel, batchGet, batchList, batchListSelf, batchSettle, type Batch } from "@fairway/wire";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "../../lib/http.ts";
import { nowSeconds } from "../../lib/now.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { queryClient } from "../../lib/query.ts";
import { rangeName, resolveBounds } from "../../lib/range.ts";
import { readRows, sortQuery, type Rows } from "../../lib/rows.ts";
import { isUnderWay } from "./state.ts";

export interface BatchFilter {
  readonly page: number;
  readonly size: number;
  readonly sort: string;
  readonly model: string;
  readonly channel: string;
  readonly phase: string;
  readonly range: string;
  readonly from: string;
  readonly to: string;
}

const POLL_MS = 10_000;

/** Polls while a batch of the page is under way. */
export function batchesQuery(filter: BatchFilter, isAdmin: boolean) {
  return queryOptions({
    queryKey: queryKeys.batches.list(filter, isAdmin),
    queryFn: async ({ signal }): Promise<Rows<Batch>> => {
      const { from, to } = resolveBounds(rangeName(filter.range), nowSeconds(), filter);
      const query = {
        p: filter.page - 1,
        page_size: filter.size,
        model: filter.model,
        phase: filter.phase,
        start_timestamp: from,
        end_timestamp: to,
        ...sortQuery(filter.sort),
      };
      return isAdmin
        ? readRows(batchList, { query: { ...query, channel_id: filter.channel }, signal })
        : readRows(batchListSelf, { query, signal });
    },
    placeholderData: keepPreviousData,
    refetchInterval: (query) => (query.state.data?.rows.some(isUnderWay) ? POLL_MS : false),
  });
}

/** One batch with its prices and the faults of its lines; the provider is asked if it is still running. */
export function batchQuery(id: string) {
  return queryOptions({
    queryKey: queryKeys.batches.one(id),
    queryFn: ({ signal }) => call(batchGet, { params: { id }, signal }),
  });
}

function refresh(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: queryKeys.batches.all });
}

const CALLS = { cancel: batchCancel, settle: batchSettle, abandon: batchAbandon } as const;
export type BatchAction = keyof typeof CALLS;

export async function changeBatch(id: string, action: BatchAction): Promise<void> {
  await call(CALLS[action], { params: { id } });
  await refresh();
}
