import { CHANNEL_STATUS, splitList } from "@fairway/wire";
import type { Transaction } from "kysely";
import { inChunks } from "../../lib/chunks.ts";
import type { AbilityTable, Schema } from "../../storage/tables/schema.ts";

const ROWS_PER_INSERT = 500;
const IDS_PER_STATEMENT = 1000;

/** The columns of a channel that affect routing. */
export interface RoutedChannel {
  readonly id: number;
  readonly status: number;
  readonly models: string;
  readonly group: string;
  readonly priority: number;
  readonly weight: number;
  readonly tag: string | null;
}

/** Replaces the routing rows of the channels: one per group and model. */
export async function rebuildAbilities(trx: Transaction<Schema>, channels: readonly RoutedChannel[]): Promise<void> {
  await removeAbilities(
    trx,
    channels.map((channel) => channel.id),
  );
  for (const rows of inChunks(channels.flatMap(buildAbilities), ROWS_PER_INSERT)) {
    await trx.insertInto("abilities").values(rows).execute();
  }
}

export async function removeAbilities(trx: Transaction<Schema>, channelIds: readonly number[]): Promise<void> {
  for (const ids of inChunks(channelIds, IDS_PER_STATEMENT)) {
    await trx.deleteFrom("abilities").where("channel_id", "in", ids).execute();
  }
}

function buildAbilities(channel: RoutedChannel): AbilityTable[] {
  const models = splitList(channel.models);
  return splitList(channel.group).flatMap((group) =>
    models.map((model) => ({
      group,
      model,
      channel_id: channel.id,
      enabled: channel.status === CHANNEL_STATUS.enabled ? 1 : 0,
      priority: channel.priority,
      weight: channel.weight,
      tag: channel.tag,
    })),
  );
}
