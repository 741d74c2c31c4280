import { tokenFacts } from "@fairway/wire";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { queryKeys } from "../../lib/query-keys.ts";
import { readVersion } from "../../lib/rows.ts";

export function shownTokenQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.tokens.shown(id),
    queryFn: ({ signal }) => readVersion(tokenFacts, { params: { id }, signal }),
  });
}

/** The name of a token now; undefined while it is not known, and of one that was deleted. */
export function useTokenName(id: number): string | undefined {
  const { data } = useQuery({ ...shownTokenQuery(id), enabled: id > 0, retry: false });
  return data?.row.name;
}
