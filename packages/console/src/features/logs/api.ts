import { logList, logListSelf, logStat, logStatSelf } from "@fairway/wire";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "../../lib/http.ts";
import { nowSeconds } from "../../lib/now.ts";
import { queryClient } from "../../lib/query.ts";
import { boundsOf, rangeName } from "../../lib/range.ts";

export interface LogFilter {
  readonly type: string;
  readonly token: string;
  readonly model: string;
  readonly user: string;
  readonly channel: string;
  readonly range: string;
  readonly from: string;
  readonly to: string;
}

const LIVE_MS = 15_000;

/** The range is resolved when the call is made, so that a relative one moves with time. */
function queryOf(filter: LogFilter, isAdmin: boolean) {
  const { from, to } = boundsOf(rangeName(filter.range), nowSeconds(), filter);
  const common = {
    type: filter.type,
    token_name: filter.token,
    model_name: filter.model,
    start_timestamp: from,
    end_timestamp: to,
  };
  return isAdmin ? { ...common, username: filter.user, channel: filter.channel } : common;
}

export function logsQuery(
  filter: LogFilter,
  page: { page: number; size: number },
  reader: { isAdmin: boolean; isLive: boolean },
) {
  return queryOptions({
    queryKey: ["logs", "list", filter, page, reader.isAdmin],
    queryFn: ({ signal }) => {
      const query = { ...queryOf(filter, reader.isAdmin), p: page.page, page_size: page.size };
      return reader.isAdmin ? call(logList, { query, signal }) : call(logListSelf, { query, signal });
    },
    placeholderData: keepPreviousData,
    refetchInterval: reader.isLive ? LIVE_MS : false,
  });
}

export function statQuery(filter: LogFilter, reader: { isAdmin: boolean; isLive: boolean }) {
  return queryOptions({
    queryKey: ["logs", "stat", filter, reader.isAdmin],
    queryFn: ({ signal }) => {
      const query = queryOf(filter, reader.isAdmin);
      return reader.isAdmin ? call(logStat, { query, signal }) : call(logStatSelf, { query, signal });
    },
    placeholderData: keepPreviousData,
    refetchInterval: reader.isLive ? LIVE_MS : false,
  });
}

/** Rows and totals of the page. */
export function refreshLogs(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ["logs"] });
}
