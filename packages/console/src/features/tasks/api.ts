import { taskList, taskListSelf, type AsyncTask } from "@fairway/wire";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { nowSeconds } from "../../lib/now.ts";
import { resolveBounds, rangeName } from "../../lib/range.ts";
import { readRows, sortQuery } from "../../lib/rows.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { isUnderWay } from "./state.ts";

export interface TaskFilter {
  readonly page: number;
  readonly size: number;
  readonly sort: string;
  readonly id: string;
  readonly channel: string;
  readonly status: string;
  readonly range: string;
  readonly from: string;
  readonly to: string;
}

const POLL_MS = 15_000;

/** Polls while a task of the page is in progress. */
export function tasksQuery(filter: TaskFilter, isAdmin: boolean) {
  return queryOptions({
    queryKey: queryKeys.tasks.list(filter, isAdmin),
    queryFn: ({ signal }) => {
      const { from, to } = resolveBounds(rangeName(filter.range), nowSeconds(), filter);
      const query = {
        p: filter.page - 1,
        page_size: filter.size,
        task_id: filter.id,
        status: filter.status,
        start_timestamp: from,
        end_timestamp: to,
        ...sortQuery(filter.sort),
      };
      return isAdmin
        ? readRows(taskList, { query: { ...query, channel_id: filter.channel }, signal })
        : readRows(taskListSelf, { query, signal });
    },
    placeholderData: keepPreviousData,
    refetchInterval: (query) => (query.state.data?.rows.some((row: AsyncTask) => isUnderWay(row)) ? POLL_MS : false),
  });
}
