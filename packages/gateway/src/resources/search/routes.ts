import { ROLE, SEARCH_HITS, searchAll, type SearchHits } from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import { usableGroups } from "../users/groups.ts";
import type { SearchStore } from "./store.ts";

export interface SearchRoutesDeps {
  readonly store: SearchStore;
  readonly snapshots: { current(): Snapshot };
}

const NOTHING: SearchHits = { channels: [], tokens: [], users: [], models: [] };

export function searchRoutes({ store, snapshots }: SearchRoutesDeps): Route[] {
  return [
    implement(searchAll, async ({ query, caller }): Promise<SearchHits> => {
      const text = query.q;
      if (text === "") return NOTHING;
      const isAdmin = caller.role >= ROLE.admin;
      const [channels, tokens, users] = await Promise.all([
        isAdmin ? store.channels(text) : [],
        store.tokens(caller.userId, text),
        isAdmin ? store.users(text) : [],
      ]);
      const snapshot = snapshots.current();
      const groups = isAdmin ? snapshot.index.keys() : Object.keys(usableGroups(snapshot.options, caller.group));
      return { channels, tokens, users, models: modelsOf(snapshot, groups, text) };
    }),
  ];
}

/** Models that the groups reach; those that begin with the text come first. */
function modelsOf(snapshot: Snapshot, groups: Iterable<string>, text: string): string[] {
  const wanted = text.toLowerCase();
  const found = new Set<string>();
  for (const group of groups) {
    for (const model of snapshot.index.get(group)?.keys() ?? []) {
      if (model.toLowerCase().includes(wanted)) found.add(model);
    }
  }
  const rank = (model: string) => (model.toLowerCase().startsWith(wanted) ? 0 : 1);
  return [...found].toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1)).slice(0, SEARCH_HITS);
}
