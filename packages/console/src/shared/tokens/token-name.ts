import { useQuery } from "@tanstack/react-query";
import { queryKeys } from "../../lib/query-keys.ts";

/** The name of a token now; undefined while it is not known, and of one that was deleted. What reads it comes when it is needed. */
export function useTokenName(id: number): string | undefined {
  const { data } = useQuery({
    queryKey: queryKeys.tokens.shownName(id),
    queryFn: async ({ signal }) => (await import("./shown-token.ts")).readTokenName(id, signal),
    enabled: id > 0,
    retry: false,
  });
  return data;
}
