import { logExplain, logExplainSelf, type LogRow } from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../../lib/http.ts";
import { queryKeys } from "../../../lib/query-keys.ts";

/** Why a call used its channel; the record of a row never changes. */
export function explainQuery({ id, request_id: request }: LogRow, isAdmin: boolean) {
  return queryOptions({
    queryKey: queryKeys.logs.explanation(isAdmin ? id : request),
    queryFn: ({ signal }) =>
      isAdmin ? call(logExplain, { params: { id }, signal }) : call(logExplainSelf, { params: { request }, signal }),
    staleTime: Infinity,
  });
}
