import { useQuery } from "@tanstack/react-query";
import { queryKeys } from "../../lib/query-keys.ts";

/**
 * Returns the current name of a token; undefined while it is unknown, and for a deleted token. The code that reads it
 * loads on demand.
 */
export function useTokenName(id: number): string | undefined {
  const { data } = useQuery({
    queryKey: queryKeys.tokens.shownName(id),
    queryFn: async ({ signal }) => (await import("./shown-token.ts")).readTokenName(id, signal),
    enabled: id > 0,
    retry: false,
  });
  return data;
}
