import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openStoreKit, START_SECONDS, type StoreKit } from "../../../test/kit/store-kit.ts";
import { reportForecasts } from "./forecast-job.ts";

const HOUR = 3_600;

eachDatabase("forecasts of budgets", (open) => {
  let kit: StoreKit;
  beforeAll(async () => {
    kit = await openStoreKit(await open());
  });
  afterAll(() => kit.database.close());

  test("are events once in each window, after a tenth of it, if the pace exceeds the limit", async () => {
    const { database, clock } = kit;
    const begun = START_SECONDS - HOUR;
    const row = { scope: "group", period: "hours", length: 5, time_zone: "UTC", quota_limit: 1_000, is_hard: 1 };
    const state = { soft_percent: 0, forecast: 1, window_start: begun };
    const add = (subject: string, more: object) =>
      database.db
        .insertInto("budgets")
        .values({ ...row, ...state, subject, ...more })
        .execute();
    await add("fast", { used: 400 });
    await add("slow", { used: 100 });
    await add("silent", { used: 400, forecast: 0 });
    await add("early", { used: 400, window_start: START_SECONDS - 600 });
    await add("spent", { used: 1_000 });
    const statistics = { spending: () => Promise.resolve([]) };
    const run = () => reportForecasts({ database, clock, statistics }, () => Promise.resolve());
    const counts = await Promise.all([run(), run()]);
    expect(counts[0] + counts[1]).toBe(1);
    expect(await run()).toBe(0);
    const events = await database.db.selectFrom("events").selectAll().execute();
    const data = events.map((event) => JSON.parse(event.data) as object);
    expect(data).toMatchObject([{ subject: "fast", percent: 40, reached_at: begun + 2.5 * HOUR, limit: 1_000 }]);
    expect(events[0]).toMatchObject({ type: "budget.forecast", user_id: 0, account_id: 0 });
  });
});
