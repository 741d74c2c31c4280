import { eachDatabase } from "@fairway/testkit/databases";
import { FORECAST_DAYS } from "@fairway/wire";
import * as fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openStoreKit, type StoreKit } from "../../../test/kit/store-kit.ts";
import { newFields } from "../channels/input.ts";
import { createChannelStore } from "../channels/store.ts";
import { DAY, DIMENSION } from "./dimensions.ts";
import { readForecasts } from "./forecast.ts";

const UNIT = 500_000;
/** Noon of a day. */
const NOW = 20_000 * DAY + DAY / 2;

eachDatabase("forecasts of what runs out", (open) => {
  let kit: StoreKit;

  beforeAll(async () => {
    kit = await openStoreKit(await open());
  });
  afterAll(() => kit.database.close());
  beforeEach(async () => {
    for (const table of ["usage_statistics", "channels", "abilities"] as const)
      await kit.database.db.deleteFrom(table).execute();
  });

  const spend = (dimension: number, subject: number, quota: number, daysAgo: number) =>
    kit.database.db
      .insertInto("usage_statistics")
      .values({
        span: DAY,
        dimension,
        owner_id: 0,
        subject: String(subject),
        start: 20_000 * DAY - daysAgo * DAY,
        calls: 1,
        errors: 0,
        refused: 0,
        quota,
        input_tokens: 1,
        output_tokens: 1,
        latency: "",
        first_token: "",
      })
      .execute();
  const channel = async (balance: number, more: object = {}) => {
    const [id = 0] = await createChannelStore(kit).create(
      newFields({ name: "one", models: "a" }, () => true),
      ["sk"],
    );
    const values = { balance, balance_updated_time: NOW, ...more };
    await kit.database.db.updateTable("channels").set(values).where("id", "=", id).execute();
    return id;
  };
  const read = () => readForecasts({ database: kit.database, quotaPerUnit: () => UNIT }, NOW);

  test("a channel's balance ends at the pace of its days, from the time at which it was read", async () => {
    const id = await channel(10, { balance_updated_time: NOW - DAY });
    for (const daysAgo of [0, 1, 2]) await spend(DIMENSION.channel, id, UNIT, daysAgo);
    // Three dollars in two and a half days.
    expect(await read()).toEqual([
      {
        kind: "channel",
        id,
        name: "one",
        owner_id: 0,
        left: 10 * UNIT,
        per_day: 600_000,
        runs_out_at: NOW - DAY + Math.ceil((10 / 1.2) * DAY),
      },
    ]);
  });

  test("what is cheaper at the provider lasts longer; what nothing spends, or what is off, does not run out", async () => {
    const cheap = await channel(10, { cost_ratio: 0.5 });
    await spend(DIMENSION.channel, cheap, 5 * UNIT, 0);
    await channel(0.01);
    await spend(DIMENSION.channel, await channel(0.01, { status: 2 }), UNIT, 0);
    await spend(DIMENSION.channel, await channel(1, { balance_updated_time: 0 }), UNIT, 0);
    expect((await read()).map(({ id, per_day: perDay }) => [id, perDay])).toEqual([[cheap, 2.5 * UNIT]]);
  });

  test("every forecast is within the next days, the nearest first, and agrees with its own pace", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ balance: fc.integer({ min: 0, max: 500 }), daily: fc.nat(40) }), { maxLength: 6 }),
        async (all) => {
          for (const table of ["usage_statistics", "channels", "abilities"] as const)
            await kit.database.db.deleteFrom(table).execute();
          for (const { balance, daily } of all) await spend(DIMENSION.channel, await channel(balance), daily * UNIT, 0);
          const found = await read();
          // Half a day counts as a day.
          const due = all.filter(({ balance, daily }) => daily > 0 && balance / daily <= FORECAST_DAYS);
          expect(found).toHaveLength(due.length);
          expect(found.map((one) => one.runs_out_at)).toEqual(
            found.map((one) => one.runs_out_at).toSorted((a, b) => a - b),
          );
          for (const { left, per_day: perDay, runs_out_at: at } of found)
            expect(Math.abs((at - NOW) / DAY - left / perDay)).toBeLessThan(0.001);
        },
      ),
      { numRuns: 8 },
    );
  });
});
