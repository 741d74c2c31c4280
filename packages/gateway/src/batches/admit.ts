import type { Transaction } from "kysely";
import { AppError } from "../lib/app-error.ts";
import type { OptionValues } from "@fairway/wire";
import type { Caller } from "../identity/authentication/caller.ts";
import type { Schema } from "../storage/tables/schema.ts";
import { lockRows, lockUser, rawOn } from "../storage/transaction.ts";
import { readRoomLimits, requireRoom } from "./channel-room.ts";
import { countOpenBatches } from "./store.ts";
import type { BatchDeps, BatchRow } from "./types.ts";

const RETRY_FULL_MS = 300_000;
const MEGABYTE = 1024 * 1024;

/** What one batch may have. */
export interface BatchLimits {
  readonly maxItems: number;
  readonly maxBytes: number;
}

export function readBatchLimits({ BatchMaxItems, BatchMaxMegabytes }: OptionValues): BatchLimits {
  return { maxItems: BatchMaxItems, maxBytes: BatchMaxMegabytes * MEGABYTE };
}

/** Throws if the caller may not create a batch now, unless a call with an idempotency key may be about an older one. */
export async function admitBatch(
  caller: Caller,
  key: string | undefined,
  deps: Pick<BatchDeps, "snapshots" | "database">,
): Promise<void> {
  const { BatchEnabled, BatchGroups } = deps.snapshots.current().options;
  const isAllowed = BatchGroups.length === 0 || BatchGroups.includes(caller.group);
  if (!BatchEnabled || !isAllowed) throw new AppError("batches_not_allowed", { values: { group: caller.group } });
  const admit = createOpenLimit(deps);
  // A large body is refused before it is read; the batch is counted again when its row is written.
  if (admit && key === undefined) admit(await countOpenBatches(deps, caller.userId));
}

/** Returns what throws if a user with so many open batches may have no further one; undefined = no limit. */
function createOpenLimit({ snapshots }: Pick<BatchDeps, "snapshots">): ((open: number) => void) | undefined {
  const limit = snapshots.current().options.BatchMaxOpenPerUser;
  if (limit === 0) return undefined;
  return (open) => {
    if (open < limit) return;
    throw new AppError("batch_limit_exceeded", { values: { open, limit }, retryAfterMs: RETRY_FULL_MS });
  };
}

/** Throws in the transaction of a new row if its user or its channel may not have one more open batch. */
type Admission = (trx: Transaction<Schema>) => Promise<void>;

/**
 * Returns the check of a new row; undefined if nothing limits it. Creations that could take the same place are counted
 * one after the other, under the lock of the user and of the channel.
 */
export function createAdmission(
  row: BatchRow,
  { snapshots, database }: Pick<BatchDeps, "snapshots" | "database">,
): Admission | undefined {
  const admit = createOpenLimit({ snapshots });
  const channel = snapshots.current().channels.get(row.channel_id);
  const room = channel && readRoomLimits(channel);
  if (!admit && !room) return undefined;
  return async (trx) => {
    if (admit) {
      await lockUser(trx, row.user_id);
      admit(await countOpenBatches({ database: { db: trx } }, row.user_id));
    }
    if (!room) return;
    await lockRows(rawOn(trx, database.kind), database.kind, "channels", [row.channel_id]);
    await requireRoom({ db: trx }, row, room);
  };
}
