import { CHANNEL_STATUS } from "@fairway/wire";
import type { Transaction } from "kysely";
import { NEVER } from "../../batches/lost.ts";
import { inChunks } from "../../lib/chunks.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Database } from "../../storage/database.ts";
import type { BatchPhase } from "../../storage/tables/schema-batches.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { lockRows, rawOn } from "../../storage/transaction.ts";
import { removeAbilities } from "./abilities.ts";
import type { Writing } from "./writing.ts";

export interface RemovalOptions {
  /** Removes channels at which batches run, too; these become stuck, because nothing can ask about them any more. */
  readonly isForced?: boolean;
}

/** Phases in which a batch still needs its channel. */
const RUNNING: readonly BatchPhase[] = ["creating", "open", "ended"];
const IDS_PER_STATEMENT = 1000;
const NAMED = 3;

/** A channel at which batches run or wait for their settlement. */
interface BusyChannel {
  readonly id: number;
  readonly name: string;
  readonly count: number;
}

/** Writes that delete channels; each refuses those with batches unless it is forced. */
export function channelRemovals({ write, database }: Pick<Writing, "write" | "database">) {
  const removeAll = async (trx: Transaction<Schema>, ids: readonly number[], { isForced }: RemovalOptions) => {
    const busy = await findBusy(trx, ids);
    if (busy.length > 0 && !isForced) throw refuse(busy);
    return removeRows(trx, database, ids, busy);
  };
  return {
    remove: (ids: readonly number[], options: RemovalOptions = {}): Promise<number> =>
      write((trx) => removeAll(trx, ids, options)),

    /** Removes the channels at which no batches run; returns the refusals of the others. */
    removeEach: (ids: readonly number[]): Promise<ReadonlyMap<number, Refusal>> =>
      write(async (trx) => {
        const refused = new Map((await findBusy(trx, ids)).map((busy) => [busy.id, refuse([busy])] as const));
        const free = ids.filter((id) => !refused.has(id));
        if (free.length > 0) await removeRows(trx, database, free, []);
        return refused;
      }),

    /** Returns the ids of the channels that are disabled, by hand or by the system. */
    listDisabled: (): Promise<number[]> => findDisabled(database.db),

    removeDisabled: (options: RemovalOptions = {}): Promise<number> =>
      write(async (trx) => removeAll(trx, await findDisabled(trx), options)),
  };
}

async function findDisabled(trx: Pick<Transaction<Schema>, "selectFrom">): Promise<number[]> {
  const disabled = [CHANNEL_STATUS.disabledByHand, CHANNEL_STATUS.disabledBySystem];
  const rows = await trx.selectFrom("channels").select("id").where("status", "in", disabled).execute();
  return rows.map(({ id }) => id);
}

async function findBusy(trx: Transaction<Schema>, ids: readonly number[]): Promise<BusyChannel[]> {
  const busy: BusyChannel[] = [];
  for (const some of inChunks(ids, IDS_PER_STATEMENT)) {
    const rows = await trx
      .selectFrom("batches")
      .innerJoin("channels", "channels.id", "batches.channel_id")
      .select((eb) => ["channels.id", "channels.name", eb.fn.countAll<number>().as("count")])
      .where("batches.channel_id", "in", some)
      .where("batches.phase", "in", RUNNING)
      .groupBy(["channels.id", "channels.name"])
      .orderBy("channels.id")
      .execute();
    busy.push(...rows.map((row) => ({ ...row, count: Number(row.count) })));
  }
  return busy;
}

function refuse(busy: readonly BusyChannel[]): Refusal {
  const names = busy.slice(0, NAMED).map(({ id, name }) => `${name} (#${id})`);
  const channels = busy.length > NAMED ? `${names.join(", ")}, …` : names.join(", ");
  const count = busy.reduce((sum, one) => sum + one.count, 0);
  return new Refusal("channel_has_batches", { values: { count: String(count), channels } });
}

async function removeRows(
  trx: Transaction<Schema>,
  { kind }: Pick<Database, "kind">,
  ids: readonly number[],
  busy: readonly BusyChannel[],
): Promise<number> {
  let removed = 0;
  // The same lock order as for booking usage, which locks rows of several channels too.
  await lockRows(rawOn(trx, kind), kind, "channels", ids);
  for (const some of inChunks(ids, IDS_PER_STATEMENT)) {
    const { numDeletedRows } = await trx.deleteFrom("channels").where("id", "in", some).executeTakeFirstOrThrow();
    removed += Number(numDeletedRows);
  }
  await removeAbilities(trx, ids);
  for (const some of inChunks(busy, IDS_PER_STATEMENT))
    await strandBatches(
      trx,
      some.map(({ id }) => id),
    );
  return removed;
}

/** Batches of channels that no longer exist wait for a person, with their deposits. */
async function strandBatches(trx: Transaction<Schema>, channels: readonly number[]): Promise<void> {
  await trx
    .updateTable("batches")
    .set((eb) => ({
      phase: "stuck",
      error: "channel_deleted",
      next_poll_at: NEVER,
      revision: eb("revision", "+", 1),
    }))
    .where("channel_id", "in", channels)
    .where("phase", "in", RUNNING)
    .execute();
}
