import { NO_BATCHES, type BatchCount, type BatchCounts } from "../observability/batch-metrics.ts";
import { providerByType } from "../providers/registry.ts";
import type { SnapshotStore } from "../snapshot/types.ts";
import { UNSETTLED } from "./store.ts";
import type { BatchDeps } from "./types.ts";

/** The provider of channels that no longer exist. */
const OTHER = "other";

/** Returns the name of a channel's provider for labels of metrics. */
export function findProviderName(
  channelId: number,
  { snapshots }: { readonly snapshots: Pick<SnapshotStore, "current"> },
) {
  const channel = snapshots.current().channels.get(channelId);
  return (channel && providerByType(channel.type)?.id) ?? OTHER;
}

/** Counts the batches that are not settled, in one statement over an index of phases. */
export async function countBatches(deps: Pick<BatchDeps, "database" | "snapshots" | "clock">): Promise<BatchCounts> {
  const rows = await deps.database.db
    .selectFrom("batches")
    .select((eb) => [
      "channel_id",
      "phase",
      "error",
      eb.fn.countAll<number>().as("batches"),
      eb.fn.sum<number>("deposit").as("deposit"),
      eb.fn.min<number>("ended_at").as("ended_at"),
    ])
    .where("phase", "in", UNSETTLED)
    .groupBy(["channel_id", "phase", "error"])
    .execute();
  const counts = new Map<string, BatchCount>();
  let [deposit, keysRefused, oldest] = [0, 0, Number.POSITIVE_INFINITY];
  for (const row of rows) {
    const [provider, batches] = [findProviderName(row.channel_id, deps), Number(row.batches)];
    const key = `${provider} ${row.phase}`;
    counts.set(key, { provider, phase: row.phase, batches: batches + (counts.get(key)?.batches ?? 0) });
    deposit += Number(row.deposit);
    if (row.phase === "open" && row.error === "key_refused") keysRefused += batches;
    if (row.phase === "ended") oldest = Math.min(oldest, Number(row.ended_at));
  }
  if (rows.length === 0) return NO_BATCHES;
  const oldestSeconds = Number.isFinite(oldest) ? Math.max(0, Math.floor(deps.clock.now() / 1000) - oldest) : 0;
  return { counts: [...counts.values()], deposit, oldestSeconds, keysRefused };
}
