import { seconds } from "../lib/clock.ts";
import { deleteAtAccount } from "./accounts.ts";
import { closeCache } from "./deposits.ts";
import type { CacheRow, StoredCacheDeps } from "./types.ts";

/** Deletes a cache at its provider and charges its storage until now. Throws AppError. */
export type RemoveCache = (row: CacheRow) => Promise<void>;

export function createRemoveCache(deps: StoredCacheDeps): RemoveCache {
  return async (row) => {
    await deleteAtAccount(row, deps);
    await closeCache(row, seconds(deps.clock), deps);
  };
}
