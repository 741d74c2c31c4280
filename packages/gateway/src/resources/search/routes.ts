import {
  channelList,
  channelModelsEnabled,
  findCallRights,
  missingScope,
  ROLE,
  SEARCH_HITS,
  searchAll,
  selfModels,
  tokenList,
  userList,
  type Endpoint,
  type SearchHits,
} from "@fairway/wire";
import { implement, type Principal, type Route } from "../../http/endpoint.ts";
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
      const [channels, tokens, users] = await Promise.all([
        mayList(channelList, caller) ? store.channels(text) : [],
        mayList(tokenList, caller) ? store.tokens(caller.userId, text) : [],
        mayList(userList, caller) ? store.users(text) : [],
      ]);
      const snapshot = snapshots.current();
      return { channels, tokens, users, models: listModels(snapshot, listGroups(snapshot, caller), text) };
    }),
  ];
}

/** Returns true if the caller may list these rows: the search shows nothing else. */
function mayList(endpoint: Endpoint, { role, token }: Principal): boolean {
  const isRoleEnough = endpoint.access === "user" || role >= ROLE.admin;
  const rights = findCallRights(endpoint);
  return isRoleEnough && rights !== undefined && (!token || missingScope(token.scopes, rights) === undefined);
}

function listGroups(snapshot: Snapshot, caller: Principal): Iterable<string> {
  if (mayList(channelModelsEnabled, caller)) return snapshot.index.keys();
  return mayList(selfModels, caller) ? Object.keys(usableGroups(snapshot.options, caller.group)) : [];
}

/** Returns the models that the groups can reach; those that begin with the text come first. */
function listModels(snapshot: Snapshot, groups: Iterable<string>, text: string): string[] {
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
