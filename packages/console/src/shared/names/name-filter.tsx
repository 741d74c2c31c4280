import { searchAll, teamList } from "@fairway/wire";
import { Box } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
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
async function findAccounts(text: string, signal: AbortSignal): Promise<Suggestion[]> {
  const keyword = text.startsWith(TEAM) ? text.slice(TEAM.length) : text;
  const teams = call(teamList, { query: { keyword, page_size: MAX_TEAMS }, signal });
  const users = text === keyword ? call(searchAll, { query: { q: text }, signal }).then((hits) => hits.users) : [];
  const [named, others] = await Promise.all([users, teams]);
  return [
    ...named.map(({ username, display_name: name }) => ({ value: username, label: name === username ? "" : name })),
    ...others.map(({ slug, name }) => ({ value: `${TEAM}${slug}`, label: name })),
  ];
}

/** Finds the reader's own tokens by a part of their names; those of others are typed. */
async function findTokens(text: string, signal: AbortSignal): Promise<Suggestion[]> {
  const { tokens } = await call(searchAll, { query: { q: text }, signal });
  return [...new Set(tokens.map(({ name }) => name))].map((value) => ({ value, label: "" }));
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
  readonly kind: "accounts" | "tokens";
  readonly find: (text: string, signal: AbortSignal) => Promise<Suggestion[]>;
}

/** A filter by a name, with suggestions; any other text is a name too. */
function NameFilter(props: NameFilterProps & Finding) {
  const { label, value, width = "150px", isMain = false, kind, find, onChange } = props;
  const box = useRef<HTMLDivElement>(null);
  const { draft, setDraft, apply } = useDraft(value, onChange);
  const wanted = useDeferredValue(draft.trim());
  const { data = [] } = useQuery({
    queryKey: queryKeys.search[kind](wanted),
    queryFn: ({ signal }) => find(wanted, signal),
    enabled: wanted !== "",
    staleTime: FRESH_STATIC_MS,
  });
  useKeys("/", () => box.current?.querySelector("input")?.focus(), isMain);
  return (
    <Box ref={box} width={{ base: isMain ? "full" : "calc(50% - 4px)", sm: width }}>
      <PickInput label={label} placeholder={label} value={draft} options={data} onChange={setDraft} onBlur={apply} />
    </Box>
  );
}

/** A filter by a user, or by a team as `team:SLUG`. */
export function AccountFilter(props: NameFilterProps) {
  return <NameFilter {...props} kind="accounts" find={findAccounts} />;
}

/** A filter by the name of a token. */
export function TokenFilter(props: NameFilterProps) {
  return <NameFilter {...props} kind="tokens" find={findTokens} />;
}
