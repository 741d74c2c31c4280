import {
  logExplain,
  logExplainSelf,
  logList,
  logListSelf,
  logStat,
  logStatSelf,
  PAGE_SIZE_CAP,
  type LogPage,
  type LogRow,
} from "@fairway/wire";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "../../lib/http.ts";
import { nowSeconds } from "../../lib/now.ts";
import { HttpProblem } from "../../lib/problems.ts";
import { queryClient } from "../../lib/query.ts";
import { boundsOf, rangeName } from "../../lib/range.ts";

export interface LogFilter {
  readonly type: string;
  readonly token: string;
  readonly model: string;
  readonly user: string;
  readonly channel: string;
  readonly request: string;
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
    request_id: filter.request,
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

/** Why a call went where it went; what a row recorded never changes. */
export function explainQuery({ id, request_id: request }: LogRow, isAdmin: boolean) {
  return queryOptions({
    queryKey: ["logs", "explain", isAdmin ? id : request],
    queryFn: ({ signal }) =>
      isAdmin ? call(logExplain, { params: { id }, signal }) : call(logExplainSelf, { params: { request }, signal }),
    staleTime: Infinity,
  });
}

/** Rows and totals of the page. */
export function refreshLogs(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ["logs"] });
}

const TOO_MANY = 429;
const MILLISECONDS = 1000;

function rest(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * MILLISECONDS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("The export was called off.", "AbortError"));
    });
  });
}

/** All pages of the filter, newest first. Rows that come meanwhile are not among them; a rate limit is waited for. */
export async function* logPages(filter: LogFilter, isAdmin: boolean, signal: AbortSignal): AsyncGenerator<LogPage> {
  const wanted = { ...queryOf(filter, isAdmin), page_size: PAGE_SIZE_CAP };
  let before = "";
  do {
    const query = { ...wanted, before };
    try {
      const page = await (isAdmin ? call(logList, { query, signal }) : call(logListSelf, { query, signal }));
      yield page;
      before = page.next;
    } catch (problem) {
      const isBusy = problem instanceof HttpProblem && problem.status === TOO_MANY;
      if (!isBusy || problem.retryAfter === undefined) throw problem;
      await rest(problem.retryAfter, signal);
      continue;
    }
    if (before === "") return;
  } while (!signal.aborted);
}
