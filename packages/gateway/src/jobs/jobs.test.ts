import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { insertLogs } from "../../test/kit/log-rows.ts";
import { quietLog } from "../../test/kit/support.ts";
import { openStoreKit, type StoreKit } from "../../test/kit/store-kit.ts";
import type { ChannelState } from "../observability/metrics.ts";
import { createJobRunner, type JobRunner } from "../resources/jobs/runner.ts";
import { createJobStore, type JobStore } from "../resources/jobs/store.ts";
import { channelJobs } from "./channel-jobs.ts";
import { LeadershipLost } from "./leader.ts";
import { removeOldLogs } from "./log-retention.ts";

const DAY = 86_400;
const NOW = 1_790_000_000;

eachDatabase("jobs of the leader", (open) => {
  let kit: StoreKit;
  let now: number;
  const clock = { now: () => now };
  const signal = new AbortController().signal;

  let store: JobStore;
  let jobs: JobRunner;

  beforeAll(async () => {
    kit = await openStoreKit(await open());
    store = createJobStore({ database: kit.database, clock });
    jobs = createJobRunner(store, quietLog);
  });
  afterAll(() => kit.database.close());
  beforeEach(async () => {
    now = NOW * 1000;
    await kit.database.raw.run("delete from logs", []);
    await kit.database.raw.run("delete from jobs", []);
    await kit.database.raw.run("delete from leases", []);
  });

  const confirm = () => Promise.resolve();
  const remove = (days: number, on = signal) =>
    removeOldLogs(
      { logDatabase: kit.database, clock, log: quietLog, days: () => days, errorDays: () => 0, jobs },
      { signal: on, confirm },
    );

  test("deletes logs older than the option allows, but never the newest row", async () => {
    const ages = [400, 31, 30.5, 29, 1, 90];
    for (const age of ages) await insertLog(NOW - Math.round(age * DAY));
    await remove(0);
    expect(await count()).toBe(6);
    await remove(30);
    expect(await count()).toBe(3);
    await remove(30);
    expect(await count()).toBe(3);
    expect(await kit.database.raw.rows("select id from jobs", [])).toEqual([]);
  });

  test("deletes many rows in batches as a job with progress, and stops between two batches", async () => {
    for (let at = 0; at < 11; at += 1) await insertMany(500, NOW - (10 + (at % 3)) * DAY);
    await remove(1, AbortSignal.abort());
    expect(await count()).toBe(5_500);
    const stop = new AbortController();
    // The leader loses the lease after the first batch.
    const stopping: Pick<JobRunner, "run"> = {
      run: (spec) =>
        jobs.run({
          ...spec,
          run: (control) => spec.run({ ...control, step: (isOk) => (control.step(isOk), stop.abort()) }),
        }),
    };
    const deps = { logDatabase: kit.database, clock, log: quietLog, days: () => 1, errorDays: () => 0, jobs: stopping };
    await removeOldLogs(deps, { signal: stop.signal, confirm });
    const batch = kit.database.kind === "sqlite" ? 200 : 1_000;
    expect(await count()).toBe(5_500 - batch);
    await remove(1);
    expect(await count()).toBe(1);
    const [last] = await store.latest();
    const batches = Math.ceil((5_500 - batch) / batch);
    expect(last).toMatchObject({ name: "log-retention", status: "done", done: batches, total: batches, failed: 0 });
    expect(last?.message).toBe(`${5_499 - batch} log rows of before 2026-09-20 deleted`);
  });

  test("a leader that was paused between two batches deletes no further batch", async () => {
    const batch = kit.database.kind === "sqlite" ? 200 : 1_000;
    for (let at = 0; at < 3; at += 1) await insertMany(batch, NOW - 10 * DAY);
    let asked = 0;
    // The signal is not aborted yet, because no timer of this process has run.
    const lost = () => ((asked += 1) === 2 ? Promise.reject(new LeadershipLost("frozen")) : Promise.resolve());
    const deps = { logDatabase: kit.database, clock, log: quietLog, days: () => 1, errorDays: () => 0, jobs };
    const removal = removeOldLogs(deps, { signal, confirm: lost });
    await expect(removal).rejects.toThrow(LeadershipLost);
    expect(await count()).toBe(2 * batch);
  });

  test("rounds begin when the last round of any replica is long enough ago", async () => {
    const begun: string[] = [];
    const start = (name: string) => async () => {
      begun.push(name);
      const times = { created_at: Math.floor(now / 1000), updated_at: 0, finished_at: 0 };
      await kit.database.db
        .insertInto("jobs")
        .values({ name, status: "done", progress: "{}", started_by: 0, ...times })
        .execute();
      return { id: 1, finished: Promise.resolve() };
    };
    const rounds = channelJobs({
      database: kit.database,
      clock,
      metrics: { setChannels: () => {} },
      testAll: start("channel-test"),
      refreshBalances: start("channel-balance"),
      testMinutes: 10,
      balanceMinutes: 60,
    });
    const dueAfter = async (minutes: number) => {
      now += minutes * 60_000;
      begun.length = 0;
      for (const job of rounds) await job.run(signal, confirm);
      return [...begun];
    };
    expect(await dueAfter(9)).toEqual([]);
    expect(await dueAfter(1)).toEqual(["channel-test"]);
    expect(await dueAfter(9)).toEqual([]);
    expect(await dueAfter(1)).toEqual(["channel-test"]);
    expect(await dueAfter(40)).toEqual(["channel-test", "channel-balance"]);
  });

  test("channel metrics match the database", async () => {
    const reported: (readonly ChannelState[])[] = [];
    const metrics = { setChannels: (states: readonly ChannelState[]) => void reported.push(states) };
    const never = () => Promise.resolve(undefined);
    const [job, ...others] = channelJobs({
      database: kit.database,
      clock,
      metrics,
      testAll: never,
      refreshBalances: never,
      testMinutes: 0,
      balanceMinutes: 0,
    });
    expect(others).toEqual([]);
    await job?.run(signal, confirm);
    expect(reported).toEqual([[]]);
  });

  function insertLog(createdAt: number) {
    return insertMany(1, createdAt);
  }

  function insertMany(rows: number, createdAt: number): Promise<void> {
    return insertLogs(
      kit.database,
      Array.from({ length: rows }, () => ({ created_at: createdAt, username: "u", model_name: "m" })),
    );
  }

  async function count(): Promise<number> {
    const [row] = await kit.database.raw.rows<{ n: number }>("select count(*) as n from logs", []);
    return Number(row?.n ?? 0);
  }
});
