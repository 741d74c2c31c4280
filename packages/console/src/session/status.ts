import { status, type Status } from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { createContext, use } from "react";
import { call } from "../lib/http.ts";
import { queryKeys } from "../lib/query-keys.ts";
import { FRESH_STATIC_MS } from "../lib/query.ts";
import { shareStatus } from "../lib/storage.ts";

export const statusQuery = queryOptions({
  queryKey: queryKeys.status,
  queryFn: async ({ signal }) => {
    const current = await call(status, { signal });
    shareStatus(current);
    return current;
  },
  staleTime: FRESH_STATIC_MS,
});

/**
 * Set once at the root: if each amount in a table subscribed to the query, that would take a third of the time to draw
 * a row.
 */
export const StatusContext = createContext<Status | undefined>(undefined);

/** Returns the public state of the gateway; the root route has loaded it before anything renders. */
export function useStatus(): Status {
  const value = use(StatusContext);
  if (!value) throw new Error("the status is read outside of the root route");
  return value;
}
