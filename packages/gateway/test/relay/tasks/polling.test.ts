import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createSqlLedger } from "../../../src/billing/ledger/sql/sql-ledger.ts";
import { quota } from "../../../src/billing/money/quota.ts";
import type { Ledger } from "../../../src/billing/ledger/ledger.ts";
import type { Database } from "../../../src/storage/database.ts";
import { createLogWriter } from "../../../src/storage/log-rows.ts";
import { pollDrawings } from "../../../src/tasks/midjourney/poll.ts";
import { pollSongs } from "../../../src/tasks/suno/store.ts";
import { pollVideos } from "../../../src/tasks/video/poll.ts";
import type { PollDeps } from "../../../src/tasks/types.ts";
import { createChannelRecord } from "../../kit/provider-kit.ts";
import { manualClock, migratedDatabase, quietLog } from "../../kit/support.ts";

const HOUR = 3_600;

eachDatabase("polling", (open) => {
  let database: Database;
  let ledger: Ledger;
  let clock: ReturnType<typeof manualClock>;
  let polled: unknown;
  let asked: string[];
  let deps: PollDeps;
  let serial = 0;

  beforeAll(async () => {
    database = await migratedDatabase(await open());
    await database.raw.run(
      "insert into users (id, username, username_key, password, display_name, role, status, quota, \"group\", aff_code, created_at) values (1, 'a', 'a', '', '', 1, 1, 1000000, 'default', 'x', 0)",
      [],
    );
  });
  afterAll(async () => {
    await ledger.flush();
    await database.close();
  });
  beforeEach(async () => {
    await database.raw.run("delete from midjourneys", []);
    await database.raw.run("delete from tasks", []);
    await database.raw.run("delete from events", []);
    clock = manualClock();
    ledger = createSqlLedger({ database: database.raw, clock, log: quietLog });
    polled = [];
    asked = [];
    deps = {
      database,
      ledger,
      writeLog: createLogWriter(false),
      clock,
      log: quietLog,
      snapshots: { current: () => ({ channels: new Map([[7, createChannelRecord({ id: 7 })]]) }) },
      upstream: (_channel, { path, body }) => {
        asked.push(`${path} ${body?.toString() ?? ""}`.trim());
        if (polled instanceof Error) return Promise.reject(polled);
        return Promise.resolve({ status: 200, text: "", json: polled });
      },
    };
  });

  /** Books a charge of 50, as for a task. */
  async function paid(): Promise<string> {
    const requestId = `req-${++serial}`;
    const hold = await ledger.hold({ requestId, userId: 1, tokenId: 0, amount: quota(50), isCharged: true });
    if ("refused" in hold) throw new Error("the user is poor");
    await ledger.settle({ hold, quota: quota(50), channelId: 7, at: clock.now() });
    return requestId;
  }

  async function drawing(id: string, more: object = {}): Promise<void> {
    const zero = {
      start_time: 0,
      finish_time: 0,
      buttons: "",
      properties: "",
      state: "",
      prompt_en: "",
      image_url: "",
      fail_reason: "",
      status: "",
    };
    const row = {
      code: 1,
      user_id: 1,
      action: "IMAGINE",
      mj_id: id,
      prompt: "x",
      description: "",
      submit_time: clock.now(),
      progress: "0%",
      channel_id: 7,
      quota: 50,
      created_at: Math.floor(clock.now() / 1000),
      charged: 1,
      request_id: await paid(),
    };
    await database.db
      .insertInto("midjourneys")
      .values({ ...zero, ...row, ...more })
      .execute();
  }

  async function task(id: string, platform = "suno", action = "MUSIC"): Promise<void> {
    const now = Math.floor(clock.now() / 1000);
    const row = {
      created_at: now,
      updated_at: now,
      submit_time: now,
      start_time: 0,
      finish_time: 0,
      fail_reason: "",
      properties: "{}",
      data: "null",
    };
    await database.db
      .insertInto("tasks")
      .values({
        ...row,
        task_id: id,
        platform,
        user_id: 1,
        channel_id: 7,
        quota: 50,
        action,
        status: "NOT_START",
        progress: "0%",
        charged: 1,
        request_id: await paid(),
      })
      .execute();
  }

  async function state(table: "midjourneys" | "tasks") {
    const rows = await database.db
      .selectFrom(table)
      .select(["status", "progress", "fail_reason", "refunded"])
      .orderBy("id")
      .execute();
    const [user] = await database.raw.rows<{ quota: number; used_quota: number }>(
      "select quota, used_quota from users where id = 1",
      [],
    );
    return { rows, user };
  }

  async function listEvents() {
    const rows = await database.db.selectFrom("events").select(["type", "user_id", "account_id", "data"]).execute();
    expect(rows.every((row) => row.user_id === 1 && row.account_id === 1)).toBe(true);
    const events = rows.map(({ type, data }) => [type, JSON.parse(data) as object] as const);
    return events.toSorted(([one], [other]) => one.localeCompare(other));
  }

  // @weakness Money: A failed task is paid back twice
  it("follows drawings to completion, and refunds failed ones once", async () => {
    const before = (await state("midjourneys")).user;
    await drawing("good");
    await drawing("bad");
    await drawing("away");
    await drawing("queued-only", { code: 23, charged: 0 });
    polled = [
      {
        id: "good",
        status: "SUCCESS",
        progress: "100%",
        imageUrl: "https://x.example/1.png",
        failReason: null,
        properties: { finalPrompt: "x" },
      },
      { id: "bad", status: "FAILURE", progress: "", failReason: "broken" },
      { id: "away", status: "CANCEL", progress: "40%" },
      { id: "stranger", status: "SUCCESS" },
    ];
    await Promise.all([pollDrawings(deps), pollDrawings(deps)]);
    await pollDrawings(deps);
    expect(asked[0]).toBe('/mj/task/list-by-condition {"ids":["good","bad","away"]}');
    const { rows, user } = await state("midjourneys");
    expect(rows.slice(0, 3)).toEqual([
      { status: "SUCCESS", progress: "100%", fail_reason: "", refunded: 0 },
      { status: "FAILURE", progress: "100%", fail_reason: "broken", refunded: 1 },
      { status: "FAILURE", progress: "100%", fail_reason: "The drawing was cancelled.", refunded: 1 },
    ]);
    const events = await listEvents();
    expect(events.map(([type]) => type)).toEqual(["task.failed", "task.failed", "task.succeeded"]);
    expect(events.map(([, data]) => data)).toEqual(
      expect.arrayContaining([
        { id: "good", action: "IMAGINE", quota: 50 },
        { id: "bad", action: "IMAGINE", reason: "broken", quota: 0 },
        { id: "away", action: "IMAGINE", reason: "The drawing was cancelled.", quota: 0 },
      ]),
    );
    expect(user).toEqual({ quota: (before?.quota ?? 0) - 100, used_quota: (before?.used_quota ?? 0) + 100 });
  });

  it("gives up on drawings after an hour, also on those that the upstream has forgotten", async () => {
    const before = (await state("midjourneys")).user;
    await drawing("late");
    await drawing("lost");
    await drawing("");
    await drawing("orphan", { channel_id: 99 });
    polled = [{ id: "late", status: "IN_PROGRESS", progress: "93%" }];
    await pollDrawings(deps);
    expect((await state("midjourneys")).rows.map(({ progress }) => progress)).toEqual(["93%", "0%", "100%", "100%"]);
    clock.move(HOUR + 1);
    await pollDrawings(deps);
    const { rows, user } = await state("midjourneys");
    expect(rows.map(({ status, refunded }) => [status, refunded])).toEqual(Array(4).fill(["FAILURE", 1]));
    expect(user).toEqual(before);
  });

  it("follows songs to completion", async () => {
    const before = (await state("tasks")).user;
    await task("one");
    await task("two");
    const budget =
      "insert into budgets (scope, subject, period, time_zone, quota_limit, soft_percent, is_hard, window_start, used) values ('user', '1', 'month', 'UTC', 1000, 0, 1, ?, 170)";
    await database.raw.run(budget, [Math.floor(clock.now() / 1000)]);
    const remember =
      "insert into budget_reaped select request_id, (select max(id) from budgets), quota, ?, ? from tasks";
    await database.raw.run(remember, [clock.now(), clock.now()]);
    polled = {
      code: "success",
      data: [{ task_id: "one", status: "IN_PROGRESS", start_time: 5, data: [{ id: "clip" }] }, { task_id: "none" }],
    };
    await pollSongs(deps);
    expect((await state("tasks")).rows.map(({ status, progress }) => [status, progress])).toEqual([
      ["IN_PROGRESS", "0%"],
      ["NOT_START", "0%"],
    ]);
    expect(await listEvents()).toEqual([]);
    polled = { code: "success", data: [{ task_id: "one", status: "FAILURE", fail_reason: "moderation failed" }] };
    await Promise.all([pollSongs(deps), pollSongs(deps)]);
    clock.move(25 * HOUR);
    polled = { code: "success", data: [] };
    await pollSongs(deps);
    const { rows, user } = await state("tasks");
    expect(rows).toEqual([
      { status: "FAILURE", progress: "100%", fail_reason: "moderation failed", refunded: 1 },
      { status: "FAILURE", progress: "100%", fail_reason: "The task timed out.", refunded: 1 },
    ]);
    expect(user).toEqual(before);
    expect(await database.raw.rows("select charged from budget_reaped", [])).toEqual([]);
    const [left] = await database.raw.rows<{ used: number }>("select used from budgets", []);
    expect(left?.used).toBe(70);
  });

  it("follows videos to completion with one call each; an upstream without answer changes nothing", async () => {
    const before = (await state("tasks")).user;
    await task("v1", "kling", "text2video");
    const kling = (data: object) => ({ code: 0, message: "SUCCEED", data: { task_id: "v1", ...data } });
    polled = kling({ task_status: "processing", created_at: 1_000, updated_at: 2_000 });
    await pollVideos(deps);
    expect(asked).toEqual(["/v1/videos/text2video/v1"]);
    expect((await state("tasks")).rows).toMatchObject([{ status: "IN_PROGRESS", progress: "50%" }]);
    for (const silence of [new Error("reset"), { code: 5000, message: "later" }, [], undefined]) {
      polled = silence;
      await pollVideos(deps);
    }
    expect((await state("tasks")).rows).toMatchObject([{ status: "IN_PROGRESS", progress: "50%" }]);
    polled = kling({ task_status: "failed", task_status_msg: "risk control", updated_at: 9_000 });
    await Promise.all([pollVideos(deps), pollVideos(deps)]);
    polled = kling({ task_status: "succeed" });
    await pollVideos(deps);
    const { rows, user } = await state("tasks");
    expect(rows).toEqual([{ status: "FAILURE", progress: "100%", fail_reason: "risk control", refunded: 1 }]);
    expect(user).toEqual(before);
  });

  it("refunds videos whose upstream never answers again", async () => {
    const before = (await state("tasks")).user;
    for (let i = 0; i < 6; i++) await task(`lost-${i}`, "kling", "image2video");
    polled = new Error("gone");
    clock.move(25 * HOUR);
    await pollVideos(deps);
    expect(asked).toHaveLength(6);
    const { rows, user } = await state("tasks");
    expect(rows.map(({ fail_reason, refunded }) => [fail_reason, refunded])).toEqual(
      Array(6).fill(["The task timed out.", 1]),
    );
    expect(user).toEqual(before);
  });
});
