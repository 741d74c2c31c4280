import { status, type Status } from "@fairway/wire";
import { queryOptions, useSuspenseQuery } from "@tanstack/react-query";
import { call } from "../lib/http.ts";
import { FRESH_STATIC_MS } from "../lib/query.ts";

export const statusQuery = queryOptions({
  queryKey: ["status"],
  queryFn: ({ signal }) => call(status, { signal }),
  staleTime: FRESH_STATIC_MS,
});

/** The public state of the gateway; the root route has loaded it before anything renders. */
export function useStatus(): Status {
  return useSuspenseQuery(statusQuery).data;
}
