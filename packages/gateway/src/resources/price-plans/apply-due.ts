import { changePriceTexts, PRICE_OPTIONS } from "@fairway/wire";
import type { Transaction } from "kysely";
import { recordEvent } from "../../events/record-event.ts";
import { seconds } from "../../lib/clock.ts";
import { readPlannedPrices, readPriceTexts, toDollarPrices } from "../../snapshot/planned-prices.ts";
import { bump } from "../../storage/revisions.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { rawOn, transact } from "../../storage/transaction.ts";
import { writeOptions, type OptionStoreDeps } from "../options/store.ts";
import type { PricePlanRow } from "./store.ts";

/**
 * Writes the prices of plans that have begun into the options, each plan once, with its event. Requests have had them
 * since their second: this makes them the prices that an operator sees and edits.
 */
export async function applyDuePrices(deps: OptionStoreDeps, confirm: () => Promise<void>): Promise<void> {
  const { database, clock } = deps;
  const due = database.db.selectFrom("price_plans").selectAll().where("ended_at", "=", 0);
  const rows = await due.where("starts_at", "<=", seconds(clock)).orderBy("starts_at").orderBy("id").execute();
  for (const row of rows) {
    await confirm();
    await transact(database.db, (trx) => applyPlan(deps, trx, row));
  }
  if (rows.length > 0) await deps.announce("options");
}

async function applyPlan(deps: OptionStoreDeps, trx: Transaction<Schema>, plan: PricePlanRow): Promise<void> {
  const { kind } = deps.database;
  await bump(rawOn(trx, kind), kind, "options");
  const done = trx.updateTable("price_plans").set({ ended_at: plan.starts_at, ended_how: "applied" });
  const changed = await done.where("id", "=", plan.id).where("ended_at", "=", 0).executeTakeFirst();
  if (changed.numUpdatedRows === 0n) return;
  const stored = await trx.selectFrom("options").select(["key", "value"]).where("key", "in", PRICE_OPTIONS).execute();
  const prices = readPlannedPrices(plan.prices);
  const texts = changePriceTexts(toDollarPrices(prices), readPriceTexts(stored));
  const writes = PRICE_OPTIONS.flatMap((key) => (texts[key] === undefined ? [] : [{ key, text: texts[key] }]));
  await writeOptions(deps, trx, writes, { userId: plan.user_id, username: plan.username, ip: "" });
  await recordEvent(trx, {
    type: "price.changed",
    atMs: deps.clock.now(),
    dedupKey: `price.changed:${plan.id}`,
    data: {
      id: plan.id,
      models: prices.slice(0, MAX_NAMED).map(({ model }) => model),
      starts_at: plan.starts_at,
      by: plan.username,
    },
  });
}

/** Models that an event names. */
const MAX_NAMED = 50;
