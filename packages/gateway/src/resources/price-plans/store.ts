import { type PlannedPrice, type PricePlan } from "@fairway/wire";
import type { Selectable, Transaction } from "kysely";
import { seconds, type Clock } from "../../lib/clock.ts";
import { readPlannedPrices } from "../../snapshot/planned-prices.ts";
import type { Database } from "../../storage/database.ts";
import { insertRow } from "../../storage/inserts.ts";
import { bump } from "../../storage/revisions.ts";
import type { PricePlanTable } from "../../storage/tables/schema-prices.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { rawOn, transact } from "../../storage/transaction.ts";
import type { Announce } from "../ports.ts";

export interface PricePlanStoreDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly announce: Announce;
}

export type PricePlanRow = Selectable<PricePlanTable>;

export interface NewPricePlan {
  readonly userId: number;
  readonly username: string;
  /** Epoch seconds. */
  readonly startsAt: number;
  readonly prices: readonly PlannedPrice[];
}

/** Ended plans that a list has. */
const MAX_ENDED = 50;

export type PricePlanStore = ReturnType<typeof createPricePlanStore>;

/**
 * Creates the SQL of planned prices. Every write raises the revision of the options, because each replica prepares the
 * snapshot of the next plan.
 */
export function createPricePlanStore({ database: { db, kind }, clock, announce }: PricePlanStoreDeps) {
  const write = async <T>(work: (trx: Transaction<Schema>) => Promise<T>): Promise<T> => {
    const done = await transact(db, async (trx) => {
      await bump(rawOn(trx, kind), kind, "options");
      return work(trx);
    });
    await announce("options");
    return done;
  };
  const find = async (id: number): Promise<PricePlan | undefined> => {
    const row = await db.selectFrom("price_plans").selectAll().where("id", "=", id).executeTakeFirst();
    return row && toPricePlan(row, seconds(clock));
  };
  return {
    find,

    async list(): Promise<PricePlan[]> {
      const plans = db.selectFrom("price_plans").selectAll();
      const next = await plans.where("ended_at", "=", 0).orderBy("starts_at").orderBy("id").execute();
      const ended = plans.where("ended_at", ">", 0).orderBy("ended_at", "desc").orderBy("id", "desc").limit(MAX_ENDED);
      const now = seconds(clock);
      return [...next, ...(await ended.execute())].map((row) => toPricePlan(row, now));
    },

    create: ({ userId, username, startsAt, prices }: NewPricePlan): Promise<number> =>
      write((trx) =>
        insertRow(trx, "price_plans", {
          created_at: seconds(clock),
          user_id: userId,
          username,
          starts_at: startsAt,
          prices: JSON.stringify(prices),
          ended_at: 0,
          ended_how: "",
        }),
      ),

    /** Returns false for a plan that has begun or was cancelled. */
    cancel: (id: number): Promise<boolean> =>
      write(async (trx) => {
        const now = seconds(clock);
        const plan = trx.updateTable("price_plans").set({ ended_at: now, ended_how: "cancelled" }).where("id", "=", id);
        const changed = await plan.where("ended_at", "=", 0).where("starts_at", ">", now).executeTakeFirst();
        return changed.numUpdatedRows > 0n;
      }),
  };
}

/** A plan that has begun is in force, although the options follow some seconds later. */
function toPricePlan(row: PricePlanRow, now: number): PricePlan {
  const isBegun = row.starts_at <= now;
  return {
    id: row.id,
    created_at: row.created_at,
    created_by: row.username,
    starts_at: row.starts_at,
    prices: readPlannedPrices(row.prices),
    state: row.ended_how === "cancelled" ? "cancelled" : isBegun ? "applied" : "planned",
    ended_at: row.ended_at === 0 && isBegun ? row.starts_at : row.ended_at,
  };
}
