import { eachLogDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { insertLogs } from "../../../test/kit/log-rows.ts";
import { openStoreKit, START_SECONDS, type StoreKit } from "../../../test/kit/store-kit.ts";
import { DIMENSION } from "./dimensions.ts";
import { createRecentUsage, type RecentQuery } from "./recent.ts";
import { calculateFigures } from "./sums.ts";

const MINUTE: RecentQuery = { dimension: DIMENSION.channel, ownerId: undefined, seconds: 60, subject: "" };

eachLogDatabase("recent usage", (open) => {
  let kit: StoreKit;
  let now: number;
  const clock = { now: () => now * 1000 };
  const recent = (maxRows?: number) =>
    createRecentUsage({ logs: kit.logs, clock, ...(maxRows === undefined ? {} : { maxRows }) });

  beforeAll(async () => {
    kit = await openStoreKit(await open());
  });
  afterAll(() => kit.database.close());
  beforeEach(async () => {
    now = START_SECONDS;
    await kit.logs.db.deleteFrom("logs").execute();
  });

  test("sums what ended within the seconds, of all channels and of each", async () => {
    const other = JSON.stringify({ frt: 700 });
    const failed = JSON.stringify({ outcome: "server", error_code: "upstream_error" });
    await insertLogs(kit.logs, [
      { created_at: now - 3, channel_id: 1, quota: 40, other },
      { created_at: now - 59, channel_id: 1, quota: 5, type: 5, other: failed },
      { created_at: now, channel_id: 2, quota: 7, user_id: 9 },
      { created_at: now - 60, channel_id: 2, quota: 1_000 },
      { created_at: now - 1, channel_id: 2, type: 3, quota: 1_000 },
    ]);
    const { from, to, total, subjects } = await recent()(MINUTE);
    expect([from, to]).toEqual([now - 59, now]);
    expect(total).toMatchObject({ calls: 3, errors: 1, quota: 52 });
    expect(subjects.map(({ subject, calls, errors, quota }) => [subject, calls, errors, quota])).toEqual([
      ["1", 2, 1, 45],
      ["2", 1, 0, 7],
    ]);
    const [first] = subjects;
    expect(first && Math.abs(calculateFigures(first).first_token.p50 - 700) < 20).toBe(true);
    const own = await recent()({ ...MINUTE, dimension: DIMENSION.user, ownerId: 9, subject: "9" });
    expect(own.total).toMatchObject({ calls: 1, quota: 7 });
  });

  test("where more calls ended than are read, the sums are of whole seconds and say from when", async () => {
    const rows = [4, 3, 3, 2, 1].map((age) => ({ created_at: now - age, channel_id: 1 }));
    await insertLogs(kit.logs, rows);
    const cut = await recent(3)(MINUTE);
    expect([cut.from, cut.total.calls]).toEqual([now - 2, 2]);
    await insertLogs(kit.logs, [{ created_at: now - 1, channel_id: 1 }]);
    const crowded = await recent(2)(MINUTE);
    expect([crowded.from, crowded.total.calls]).toEqual([now - 1, 2]);
  });

  test("callers share an answer for five seconds", async () => {
    const read = recent();
    expect((await read(MINUTE)).total.calls).toBe(0);
    await insertLogs(kit.logs, [{ created_at: now, channel_id: 1 }]);
    now += 4;
    expect((await read(MINUTE)).total.calls).toBe(0);
    expect((await read({ ...MINUTE, seconds: 300 })).total.calls).toBe(1);
    now += 1;
    expect((await read(MINUTE)).total.calls).toBe(1);
  });

  test("a day that begins meanwhile does not divide them", async () => {
    now = START_SECONDS - (START_SECONDS % 86_400) + 10;
    await insertLogs(kit.logs, [
      { created_at: now - 20, channel_id: 1 },
      { created_at: now, channel_id: 1 },
    ]);
    expect((await recent()(MINUTE)).subjects).toMatchObject([{ subject: "1", calls: 2 }]);
  });
});
