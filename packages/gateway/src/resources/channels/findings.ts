import type { Kysely } from "kysely";
import { buildSlotKey, recordEvent } from "../../events/record-event.ts";
import { seconds } from "../../lib/clock.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { transact } from "../../storage/transaction.ts";
import type { ChannelRow } from "./view.ts";
import type { ChannelStoreDeps, Writing } from "./writing.ts";

const SLOW_SLOT_MS = 3_600_000;

export interface SlowTest {
  readonly milliseconds: number;
  /** The slowest good test. */
  readonly mostMs: number;
}

/**
 * Creates the writes of test results and balances. Routing does not depend on them, so they raise no revision unless
 * model lists show them.
 */
export function channelFindings({ database: { db }, clock }: ChannelStoreDeps, write: Writing["write"]) {
  return {
    /** Returns whether the upstream's list of models was ever read. */
    async isListed(id: number): Promise<boolean> {
      const row = await db.selectFrom("channels").select("listed_models").where("id", "=", id).executeTakeFirst();
      return row?.listed_models !== null;
    },

    /** Stores the model list; "" means that it has no data. Most lists have not changed. */
    async recordListed(id: number, text: string): Promise<void> {
      const row = await db.selectFrom("channels").select("listed_models").where("id", "=", id).executeTakeFirst();
      if (!row || row.listed_models === text) return;
      await write((trx) => trx.updateTable("channels").set({ listed_models: text }).where("id", "=", id).execute());
    },

    /** Stores a test result; an empty `fault` means that the test passed. */
    async recordTest(id: number, milliseconds: number, fault: string): Promise<void> {
      const values = { response_time: Math.round(milliseconds), test_time: seconds(clock), test_error: fault };
      await db.updateTable("channels").set(values).where("id", "=", id).execute();
    },

    /** Writes an event about a slow channel, once an hour. */
    async recordSlow({ id, name }: Pick<ChannelRow, "id" | "name">, { milliseconds, mostMs }: SlowTest): Promise<void> {
      const type = "channel.slow";
      const atMs = clock.now();
      const dedupKey = buildSlotKey(type, id, { atMs, ms: SLOW_SLOT_MS });
      await recordEvent(db, { type, atMs, dedupKey, data: { id, name, milliseconds, most_milliseconds: mostMs } });
    },

    /** Stores a balance, and an event if it fell below the threshold. */
    async recordBalance(id: number, balance: number, threshold = 0): Promise<void> {
      const reading = { id, balance, threshold, atMs: clock.now() };
      if (balance < threshold && (await recordFall(db, reading))) return;
      await db.updateTable("channels").set(toColumns(reading)).where("id", "=", id).execute();
    },
  };
}

interface Reading {
  readonly id: number;
  readonly balance: number;
  readonly threshold: number;
  /** Milliseconds. */
  readonly atMs: number;
}

function toColumns({ balance, atMs }: Reading) {
  return { balance, balance_updated_time: Math.floor(atMs / 1000) };
}

/**
 * Stores a balance below the threshold with its event; returns false if the last one was below too, or if there was
 * none. Of several replicas that read the same fall, one finds the row as it was.
 */
async function recordFall(db: Kysely<Schema>, reading: Reading): Promise<boolean> {
  const { id, balance, threshold, atMs } = reading;
  return transact(db, async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable("channels")
      .set(toColumns(reading))
      .where("id", "=", id)
      .where("balance", ">=", threshold)
      .where("balance_updated_time", ">", 0)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n) return false;
    const { name } = await trx.selectFrom("channels").select("name").where("id", "=", id).executeTakeFirstOrThrow();
    const type = "channel.balance_low";
    const data = { id, name, balance_usd: balance, threshold_usd: threshold };
    await recordEvent(trx, { type, atMs, dedupKey: `${type}:${id}:${atMs}`, data });
    return true;
  });
}
