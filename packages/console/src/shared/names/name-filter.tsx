import { searchAll, teamList } from "@fairway/wire";
import { Box } from "@chakra-ui/react";
import { queryOptions, useQuery, type UseQueryOptions } from "@tanstack/react-query";
import { useDeferredValue, useRef } from "react";
import { call } from "../../lib/http.ts";
import { useKeys } from "../../lib/keys.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { FRESH_STATIC_MS } from "../../lib/query.ts";
import type { Suggestion } from "../../ui/form/field.tsx";
import { PickInput } from "../../ui/form/pick-input.tsx";
import { useDraft } from "../../ui/grid/use-draft.ts";

/** How the filters of administrators name a team; no user name has a colon. */
const TEAM = "team:";
const MAX_TEAMS = 5;

/** Finds users and teams by a part of their names. */
function accountHitsQuery(text: string) {
  return queryOptions({
    queryKey: queryKeys.search.accounts(text),
    queryFn: async ({ signal }): Promise<Suggestion[]> => {
      const keyword = text.startsWith(TEAM) ? text.slice(TEAM.length) : text;
      const teams = call(teamList, { query: { keyword, page_size: MAX_TEAMS }, signal });
      const { users } = text === keyword ? await call(searchAll, { query: { q: text }, signal }) : { users: [] };
      return [
        ...users.map(({ username, display_name: name }) => ({ value: username, label: name === username ? "" : name })),
        ...(await teams).map(({ slug, name }) => ({ value: `${TEAM}${slug}`, label: name })),
      ];
    },
    enabled: text !== "",
    staleTime: FRESH_STATIC_MS,
  });
}

/** Finds the reader's own tokens by a part of their names; those of others are typed. */
function tokenHitsQuery(text: string) {
  return queryOptions({
    queryKey: queryKeys.search.tokens(text),
    queryFn: async ({ signal }): Promise<Suggestion[]> => {
      const { tokens } = await call(searchAll, { query: { q: text }, signal });
      return [...new Set(tokens.map(({ name }) => name))].map((value) => ({ value, label: "" }));
    },
    enabled: text !== "",
    staleTime: FRESH_STATIC_MS,
  });
}

interface NameFilterProps {
  readonly label: string;
  readonly value: string;
  readonly width?: string;
  /** The filter that phones always show; `/` focuses it. */
  readonly isMain?: boolean;
  onChange(value: string): void;
}

interface Finding {
  readonly findHits: (
    text: string,
  ) => UseQueryOptions<Suggestion[], Error, Suggestion[], readonly unknown[]> & { readonly enabled?: boolean };
}

/** A filter by a name, with suggestions; any other text is a name too. */
function NameFilter({ label, value, width = "150px", isMain = false, findHits, onChange }: NameFilterProps & Finding) {
  const box = useRef<HTMLDivElement>(null);
  const [draft, setDraft] = useDraft(value, onChange);
  const { data = [] } = useQuery(findHits(useDeferredValue(draft.trim())));
  useKeys("/", () => box.current?.querySelector("input")?.focus(), isMain);
  return (
    <Box ref={box} width={{ base: isMain ? "full" : "calc(50% - 4px)", sm: width }}>
      <PickInput label={label} placeholder={label} value={draft} options={data} onChange={setDraft} />
    </Box>
  );
}

/** A filter by a user, or by a team as `team:SLUG`. */
export function AccountFilter(props: NameFilterProps) {
  return <NameFilter {...props} findHits={accountHitsQuery} />;
}

/** A filter by the name of a token. */
export function TokenFilter(props: NameFilterProps) {
  return <NameFilter {...props} findHits={tokenHitsQuery} />;
}
