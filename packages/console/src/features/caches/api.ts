import { cacheDelete, cacheList, cacheListSelf, type StoredCache } from "@fairway/wire";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "../../lib/http.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { queryClient } from "../../lib/query.ts";
import { readRows, sortQuery, type Rows } from "../../lib/rows.ts";

export interface CacheFilter {
  readonly page: number;
  readonly size: number;
  readonly sort: string;
  readonly model: string;
  /** Only administrators filter by it. */
  readonly channel: string;
}

export function cachesQuery(filter: CacheFilter, isAdmin: boolean) {
  const { page, size, model, sort } = filter;
  return queryOptions({
    queryKey: queryKeys.caches.list(filter, isAdmin),
    queryFn: async ({ signal }): Promise<Rows<StoredCache>> => {
      const query = { p: page - 1, page_size: size, model, ...sortQuery(sort) };
      return isAdmin
        ? readRows(cacheList, { query: { ...query, channel_id: filter.channel }, signal })
        : readRows(cacheListSelf, { query, signal });
    },
    placeholderData: keepPreviousData,
  });
}

export async function deleteCache(id: string): Promise<void> {
  await call(cacheDelete, { params: { id } });
  await queryClient.invalidateQueries({ queryKey: queryKeys.caches.all });
}
