import { selfModels } from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "../lib/http.ts";
import { queryKeys } from "../lib/query-keys.ts";
import { FRESH_STATIC_MS } from "../lib/query.ts";

/** Names of the models that the signed-in user may use; channel changes make it stale. */
export const modelsQuery = queryOptions({
  queryKey: queryKeys.models.own,
  queryFn: ({ signal }) => call(selfModels, { signal }),
  staleTime: FRESH_STATIC_MS,
});
