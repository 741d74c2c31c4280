import { drawingList, drawingListSelf, type Drawing } from "@fairway/wire";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { nowSeconds } from "../../lib/now.ts";
import { resolveBounds, rangeName } from "../../lib/range.ts";
import { readRows, sortQuery } from "../../lib/rows.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { isUnderWay } from "./state.ts";

export interface DrawingFilter {
  readonly page: number;
  readonly size: number;
  readonly sort: string;
  readonly id: string;
  readonly channel: string;
  readonly range: string;
  readonly from: string;
  readonly to: string;
}

const POLL_MS = 15_000;

/** Polls while a drawing of the page is in progress. */
export function drawingsQuery(filter: DrawingFilter, isAdmin: boolean) {
  return queryOptions({
    queryKey: queryKeys.drawings.list(filter, isAdmin),
    queryFn: ({ signal }) => {
      const { from, to } = resolveBounds(rangeName(filter.range, "30d"), nowSeconds(), filter);
      const query = {
        p: filter.page - 1,
        page_size: filter.size,
        mj_id: filter.id,
        // This list uses milliseconds.
        start_timestamp: from * 1_000,
        end_timestamp: to * 1_000,
        ...sortQuery(filter.sort),
      };
      return isAdmin
        ? readRows(drawingList, { query: { ...query, channel_id: filter.channel }, signal })
        : readRows(drawingListSelf, { query, signal });
    },
    placeholderData: keepPreviousData,
    refetchInterval: (query) => (query.state.data?.rows.some((row: Drawing) => isUnderWay(row)) ? POLL_MS : false),
  });
}
