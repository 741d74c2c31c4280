import { tokenFacts } from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { queryKeys } from "../../lib/query-keys.ts";
import { readVersion } from "../../lib/rows.ts";

export function shownTokenQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.tokens.shown(id),
    queryFn: ({ signal }) => readVersion(tokenFacts, { params: { id }, signal }),
  });
}

export async function readTokenName(id: number, signal: AbortSignal): Promise<string> {
  return (await readVersion(tokenFacts, { params: { id }, signal })).row.name;
}
