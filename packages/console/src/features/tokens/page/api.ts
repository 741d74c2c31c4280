import { LOG_TYPE, logList, logListSelf, TOKEN_STATUS, tokenOfUserSetStatus } from "@fairway/wire";
import type { TokenFacts } from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../../lib/http.ts";
import { queryKeys } from "../../../lib/query-keys.ts";
import type { Version } from "../../../lib/rows.ts";
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

/** Enables or disables a token of another user. */
export async function switchToken({ row, tag }: Version<TokenFacts>, isOn: boolean): Promise<void> {
  const status = isOn ? TOKEN_STATUS.enabled : TOKEN_STATUS.disabled;
  try {
    await call(tokenOfUserSetStatus, { params: { id: row.id }, body: { status }, ifMatch: tag });
  } finally {
    await refresh();
  }
}
