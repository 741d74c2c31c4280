import { isKeyText, searchAll, tokenFind, type SearchHits } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { useDeferredValue } from "react";
import { call } from "../../lib/http.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { useUser } from "../../session/session.ts";

const SHORTEST_SEARCH = 2;

/** Waits for a pause in typing before it searches. */
const PAUSE_MS = 250;

export interface Found extends SearchHits {
  /** The owner of the token, if the text is a whole key. */
  readonly owner?: string;
}

/** Finds the token of a pasted key. The key travels in the body, so that no log of addresses has it. */
async function findKey(key: string, signal: AbortSignal): Promise<Found> {
  const { id, name, status, username } = await call(tokenFind, { body: { key }, signal });
  return { channels: [], tokens: [{ id, name: name || `#${id}`, status }], users: [], models: [], owner: username };
}

/** Results of the server's search by name, or by a whole key. */
export function useFound(text: string): Found | undefined {
  const user = useUser();
  const wanted = useDeferredValue(text.trim());
  const isKey = isKeyText(wanted);
  const { data } = useQuery({
    queryKey: queryKeys.search.found(wanted),
    queryFn: async ({ signal }) => {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      if (signal.aborted) return undefined;
      return isKey ? findKey(wanted, signal) : call(searchAll, { query: { q: wanted }, signal });
    },
    enabled: user !== undefined && wanted.length >= SHORTEST_SEARCH,
    retry: false,
    // A key does not stay in memory after the search.
    ...(isKey && { gcTime: 0 }),
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
    enabled: isOn && wanted.length >= SHORTEST_SEARCH && !isKeyText(wanted),
    staleTime: Infinity,
  });
  return data ?? [];
}
