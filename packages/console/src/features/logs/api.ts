import {
  logFacets,
  logFacetsSelf,
  logGet,
  logGetSelf,
  logHistogram,
  logHistogramSelf,
  logList,
  logListSelf,
  logStat,
  logStatSelf,
  logTail,
  logTailSelf,
  type LogRow,
} from "@fairway/wire";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call, openStream } from "../../lib/http.ts";
import { nowSeconds } from "../../lib/now.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { queryClient, repeatWhenAway } from "../../lib/query.ts";
import { resolveBounds, rangeName } from "../../lib/range.ts";

export interface LogFilter {
  readonly type: string;
  /** Name of a token. */
  readonly token: string;
  /** The id of one token, whatever its name was. */
  readonly tokenId: string;
  readonly model: string;
  readonly user: string;
  readonly channel: string;
  readonly group: string;
  /** Code and HTTP status of failed calls. */
  readonly code: string;
  readonly status: string;
  /** Tags that a call has, `app=shop|env=prod`. */
  readonly tags: string;
  readonly endUser: string;
  /** Finds the rows of this request at any time. */
  readonly request: string;
  readonly range: string;
  readonly from: string;
  readonly to: string;
}

const LIVE_MS = 15_000;

const ANY_TIME = { from: 0, to: 0 };

/** The range is resolved when the call is made, so that a relative one moves with time. */
export function buildLogQuery(filter: LogFilter, isAdmin: boolean) {
  const { from, to } = filter.request === "" ? resolveBounds(rangeName(filter.range), nowSeconds(), filter) : ANY_TIME;
  const common = {
    type: filter.type,
    token_name: filter.token,
    token_id: filter.tokenId,
    model_name: filter.model,
    request_id: filter.request,
    group: filter.group,
    code: filter.code,
    status: filter.status,
    tags: filter.tags,
    end_user: filter.endUser,
    start_timestamp: from,
    end_timestamp: to,
  };
  return isAdmin ? { ...common, username: filter.user, channel: filter.channel } : common;
}

export function logsQuery(filter: LogFilter, page: { page: number; size: number }, isAdmin: boolean) {
  return queryOptions({
    queryKey: queryKeys.logs.list(filter, page, isAdmin),
    queryFn: ({ signal }) => {
      const query = { ...buildLogQuery(filter, isAdmin), p: page.page, page_size: page.size };
      return isAdmin ? call(logList, { query, signal }) : call(logListSelf, { query, signal });
    },
    placeholderData: keepPreviousData,
  });
}

export function statQuery(filter: LogFilter, reader: { isAdmin: boolean; isLive: boolean }) {
  return queryOptions({
    queryKey: queryKeys.logs.totals(filter, reader.isAdmin),
    queryFn: ({ signal }) => {
      const query = buildLogQuery(filter, reader.isAdmin);
      return reader.isAdmin ? call(logStat, { query, signal }) : call(logStatSelf, { query, signal });
    },
    placeholderData: keepPreviousData,
    refetchInterval: repeatWhenAway(reader.isLive ? LIVE_MS : false),
  });
}

export function histogramQuery(filter: LogFilter, reader: { isAdmin: boolean; isLive: boolean }) {
  return queryOptions({
    queryKey: queryKeys.logs.histogram(filter, reader.isAdmin),
    queryFn: ({ signal }) => {
      const query = buildLogQuery(filter, reader.isAdmin);
      return reader.isAdmin ? call(logHistogram, { query, signal }) : call(logHistogramSelf, { query, signal });
    },
    placeholderData: keepPreviousData,
    refetchInterval: repeatWhenAway(reader.isLive ? LIVE_MS : false),
  });
}

export function facetsQuery(filter: LogFilter, isAdmin: boolean) {
  return queryOptions({
    queryKey: queryKeys.logs.facets(filter, isAdmin),
    queryFn: ({ signal }) => {
      const query = buildLogQuery(filter, isAdmin);
      return isAdmin ? call(logFacets, { query, signal }) : call(logFacetsSelf, { query, signal });
    },
    placeholderData: keepPreviousData,
  });
}

const ROW_ID = /^\d{1,15}$/;

/** The row that a link names, by its id, which only administrators know, or by its request id. */
export function rowQuery(key: string, isAdmin: boolean) {
  return queryOptions({
    queryKey: queryKeys.logs.one(key, isAdmin),
    queryFn: async ({ signal }): Promise<LogRow | null> => {
      if (!isAdmin) return call(logGetSelf, { params: { request: key }, signal });
      if (ROW_ID.test(key)) return call(logGet, { params: { id: key }, signal });
      const found = await call(logList, { query: { request_id: key, page_size: 1 }, signal });
      return found.items[0] ?? null;
    },
    staleTime: Infinity,
    retry: false,
  });
}

/**
 * Streams new rows of the filter as server-sent events. The range has no end, because rows may be dated later than this
 * clock.
 */
export function openTail(
  filter: LogFilter,
  isAdmin: boolean,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const query = { ...buildLogQuery(filter, isAdmin), end_timestamp: 0 };
  return isAdmin ? openStream(logTail, { query, signal }) : openStream(logTailSelf, { query, signal });
}

/** Reloads the list alone. */
export function refreshRows(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: queryKeys.logs.lists });
}

/** Reloads rows and totals of the page. */
export function refreshLogs(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: queryKeys.logs.all });
}
