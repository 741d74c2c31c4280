import { teamGet } from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { queryKeys } from "../../lib/query-keys.ts";
import { readVersion } from "../../lib/rows.ts";

/** A team with its version, from which the settings are edited. */
export function teamQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.teams.inside(id, "shown"),
    queryFn: ({ signal }) => readVersion(teamGet, { params: { id }, signal }),
  });
}
