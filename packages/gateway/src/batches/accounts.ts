import type { ChannelRecord, ProviderAdapter } from "../providers/core/types.ts";
import type { BatchSupport } from "../providers/core/batches.ts";
import { providerByType } from "../providers/registry.ts";
import { findMarkedKey } from "../snapshot/key-marks.ts";
import type { BatchDeps, BatchRow } from "./types.ts";
import type { BatchAccount } from "./upstream.ts";

/** A batch's account with what its vendor has of its own. */
export interface OpenAccount extends BatchAccount {
  readonly support: BatchSupport;
}

/** Returns what the provider of a channel has for batches; undefined if it takes none. */
export function findSupport(
  channel: ChannelRecord,
): { readonly provider: ProviderAdapter; readonly support: BatchSupport } | undefined {
  const provider = providerByType(channel.type);
  const { batches } = provider ?? {};
  if (!provider || !batches) return undefined;
  return { provider, support: typeof batches === "function" ? batches(channel) : batches };
}

/** Returns the account of a batch, also if its channel is disabled or its key rests; undefined if either was deleted. */
export function findAccount(
  row: Pick<BatchRow, "channel_id" | "key_mark">,
  deps: Pick<BatchDeps, "snapshots" | "hashKey">,
): OpenAccount | undefined {
  const channel = deps.snapshots.current().channels.get(row.channel_id);
  const found = channel && findSupport(channel);
  if (!channel || !found) return undefined;
  const key = channel.keys[findMarkedKey(channel, row.key_mark, deps.hashKey)];
  return key === undefined ? undefined : { channel, key, ...found };
}

/** True while the row of a channel exists. One that cannot be read is not in the snapshot, and may come back. */
export async function hasChannel(id: number, { database }: Pick<BatchDeps, "database">): Promise<boolean> {
  return (await database.db.selectFrom("channels").select("id").where("id", "=", id).executeTakeFirst()) !== undefined;
}
