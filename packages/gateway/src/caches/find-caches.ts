import { seconds } from "../lib/clock.ts";
import type { ObjectLibrary } from "../objects/library.ts";
import type { FindFiles, StoredFile } from "../relay/tenancy/stored-files.ts";
import { findCacheAccount } from "./accounts.ts";
import { findOwnCaches } from "./store.ts";
import type { StoredCacheDeps } from "./types.ts";

const NAME = /^cachedContents\/([\w-]{1,128})$/;

/** Creates the search for caches of the caller that a request names. */
export function createFindCaches(
  deps: StoredCacheDeps & { readonly library: Pick<ObjectLibrary, "viewAs"> },
): FindFiles {
  return async (names, caller) => {
    const ids = names.flatMap((name) => NAME.exec(name)?.[1] ?? []);
    const found = new Map<string, StoredFile>();
    if (ids.length === 0) return found;
    for (const row of await findOwnCaches(deps, ids, deps.library.viewAs(caller), seconds(deps.clock))) {
      const name = `cachedContents/${row.id}`;
      found.set(name, {
        id: name,
        dialect: "gemini",
        channelId: row.channel_id,
        keyIndex: findCacheAccount(row, deps)?.keyIndex,
        sent: `cachedContents/${row.upstream_id}`,
        tokens: row.tokens,
      });
    }
    return found;
  };
}
