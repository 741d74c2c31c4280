import { groupList } from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "../lib/http.ts";
import { queryKeys } from "../lib/query-keys.ts";
import { FRESH_STATIC_MS } from "../lib/query.ts";

/** Names of all groups; options of the gateway change them. */
export const groupsQuery = queryOptions({
  queryKey: queryKeys.groups.every,
  queryFn: ({ signal }) => call(groupList, { signal }),
  staleTime: FRESH_STATIC_MS,
});
