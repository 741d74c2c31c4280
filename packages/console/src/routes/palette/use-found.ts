import { searchAll } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { useDeferredValue } from "react";
import { call } from "../../lib/http.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { useUser } from "../../session/session.ts";

const SHORTEST_SEARCH = 2;

/** Waits for a pause in typing before it searches. */
const PAUSE_MS = 250;

/** Results of the server's search by name. */
export function useFound(text: string) {
  const user = useUser();
  const wanted = useDeferredValue(text.trim());
  const { data } = useQuery({
    queryKey: queryKeys.search.found(wanted),
    queryFn: async ({ signal }) => {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      return signal.aborted ? undefined : call(searchAll, { query: { q: wanted }, signal });
    },
    enabled: user !== undefined && wanted.length >= SHORTEST_SEARCH,
    retry: false,
  });
  return data;
}

/** Options by label, key or description; their texts load with the first search. */
export function useFoundOptions(text: string, isOn: boolean) {
  const language = useLanguage();
  const wanted = useDeferredValue(text.trim());
  const { data } = useQuery({
    queryKey: queryKeys.options.found(language, wanted),
    queryFn: async () => (await import("../../features/settings/options/find-options.ts")).findOptions(wanted),
    enabled: isOn && wanted.length >= SHORTEST_SEARCH,
    staleTime: Infinity,
  });
  return data ?? [];
}
