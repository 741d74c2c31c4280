import { LOG_TYPE, logList, logListSelf, TOKEN_STATUS, tokenFacts, tokenOfUserSetStatus } from "@fairway/wire";
import type { TokenFacts } from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../../lib/http.ts";
import { queryKeys } from "../../../lib/query-keys.ts";
import { readVersion, type Version } from "../../../lib/rows.ts";
import { refresh } from "../api.ts";

const FAILURES = 8;

export function shownTokenQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.tokens.shown(id),
    queryFn: ({ signal }) => readVersion(tokenFacts, { params: { id }, signal }),
  });
}

/** The newest failed calls with the token. */
export function failuresQuery({ id, user_id, name }: TokenFacts, isOwn: boolean) {
  const query = { p: 1, page_size: FAILURES, type: LOG_TYPE.error, token_name: name };
  return queryOptions({
    queryKey: queryKeys.logs.failuresOfToken(id),
    queryFn: ({ signal }) =>
      isOwn ? call(logListSelf, { query, signal }) : call(logList, { query: { ...query, user_id }, signal }),
  });
}

/** Enables or disables a token of another user. */
export async function switchToken({ row, tag }: Version<TokenFacts>, isOn: boolean): Promise<void> {
  const status = isOn ? TOKEN_STATUS.enabled : TOKEN_STATUS.disabled;
  try {
    await call(tokenOfUserSetStatus, { params: { id: row.id }, body: { status }, ifMatch: tag });
  } finally {
    await refresh();
  }
}
