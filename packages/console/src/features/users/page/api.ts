import { auditList, LOG_TYPE, logList, orderList, PAGE_SIZE_CAP, tokenListOfUser, userGet } from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../../lib/http.ts";
import { queryKeys } from "../../../lib/query-keys.ts";
import { readRows } from "../../../lib/rows.ts";

const ROWS = 8;

export function shownUserQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.users.shown(id),
    queryFn: ({ signal }) => call(userGet, { params: { id }, signal }),
  });
}

export function ordersQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.users.orders(id),
    queryFn: ({ signal }) => call(orderList, { query: { p: 1, page_size: ROWS, user_id: id }, signal }),
  });
}

export function auditQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.users.audit(id),
    queryFn: ({ signal }) => call(auditList, { query: { p: 0, page_size: ROWS, user_id: id }, signal }),
  });
}

export function tokensQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.tokens.byUser(id),
    queryFn: ({ signal }) => readRows(tokenListOfUser, { params: { id }, query: { page_size: PAGE_SIZE_CAP }, signal }),
  });
}

/** When the user last made a charged call, in epoch seconds; null if never. */
export function lastCallQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.logs.newestByUser(id),
    queryFn: async ({ signal }) => {
      const query = { type: LOG_TYPE.consume, user_id: id, p: 1, page_size: 1 };
      return (await call(logList, { query, signal })).items[0]?.created_at ?? null;
    },
  });
}
