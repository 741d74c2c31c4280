import {
  LOG_TYPE,
  logList,
  logListSelf,
  TOKEN_STATUS,
  tokenActivity,
  tokenOfUserSetStatus,
  tokenSetStatus,
} from "@fairway/wire";
import type { TokenFacts } from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../../lib/http.ts";
import { queryKeys } from "../../../lib/query-keys.ts";
import type { Version } from "../../../lib/rows.ts";
import { nowSeconds } from "../../../lib/now.ts";
import { buildPeriod, localOffset, type UsageRange } from "../../../shared/usage/period.ts";
import { refresh } from "../api.ts";

const FAILURES = 8;

/** The newest failed calls with the token. */
export function failuresQuery({ id }: TokenFacts, isOwn: boolean) {
  const query = { p: 1, page_size: FAILURES, type: LOG_TYPE.error, token_id: id };
  return queryOptions({
    queryKey: queryKeys.logs.failuresByToken(id),
    queryFn: ({ signal }) => (isOwn ? call(logListSelf, { query, signal }) : call(logList, { query, signal })),
  });
}

/** Addresses and models of the calls with the token. */
export function activityQuery(id: number, range: UsageRange) {
  return queryOptions({
    queryKey: queryKeys.logs.totals("token", id, range),
    queryFn: ({ signal }) => {
      const at = nowSeconds();
      const { from, to } = buildPeriod(range, at, localOffset(at));
      return call(tokenActivity, { params: { id }, query: { start_timestamp: from, end_timestamp: to }, signal });
    },
  });
}

/** Enables or disables a token: the reader's own, or as an administrator that of another user. */
export async function switchToken({ row, tag }: Version<TokenFacts>, isOn: boolean, isOwn: boolean): Promise<void> {
  const status = isOn ? TOKEN_STATUS.enabled : TOKEN_STATUS.disabled;
  try {
    if (isOwn) await call(tokenSetStatus, { query: { status_only: true }, body: { id: row.id, status }, ifMatch: tag });
    else await call(tokenOfUserSetStatus, { params: { id: row.id }, body: { status }, ifMatch: tag });
  } finally {
    await refresh();
  }
}
