import { seconds } from "../lib/clock.ts";
import { deleteAtAccount } from "./accounts.ts";
import { closeCache } from "./deposits.ts";
import { findClosable } from "./store.ts";
import type { CacheRow, StoredCacheDeps } from "./types.ts";

const ROWS_AT_ONCE = 200;

/**
 * Charges the storage of caches that have ended, and of those whose channel or user no longer exists; returns the
 * deposits of creations that never ended, and deletes what they left at their upstream. `confirm` throws when another replica leads.
 */
export async function sweepCaches(
  deps: StoredCacheDeps,
  signal: AbortSignal,
  confirm: () => Promise<void>,
): Promise<void> {
  for (const row of await findClosable(deps, seconds(deps.clock), ROWS_AT_ONCE)) {
    if (signal.aborted) return;
    await confirm();
    await sweepOne(row, deps).catch((error: unknown) =>
      deps.log.warn("a cache that has ended could not be closed yet", { cache: row.id, error }),
    );
  }
}

async function sweepOne(row: CacheRow, deps: StoredCacheDeps): Promise<void> {
  const now = seconds(deps.clock);
  const { id: cache, phase, upstream_id: upstreamId, channel_id: channel, model, ends_at: endsAt } = row;
  if (endsAt > now) await deleteAtAccount(row, deps);
  await closeCache(row, now, deps);
  if (phase === "creating" && upstreamId === "")
    deps.log.warn("the creation of a cache was interrupted; its provider may store it until it ends", {
      cache,
      channel,
      model,
      ends_at: endsAt,
    });
}
