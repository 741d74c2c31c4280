import { createDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { insertLogs } from "../../test/kit/log-rows.ts";
import { openStoreKit, type StoreKit } from "../../test/kit/store-kit.ts";
import { quietLog } from "../../test/kit/support.ts";
import { oldestRowTime } from "../billing/audit/logging-periods.ts";
import { newestLogId } from "../storage/newest-log.ts";
import { openDatabase } from "../storage/database.ts";
import { readPartitions } from "../storage/partitions/partitions.ts";
import { LeadershipLost } from "./leader.ts";
import { logPartitionsJob, makeNextPartitions } from "./log-partitions.ts";
import { logRetentionJob, removeOldLogs } from "./log-retention.ts";

const DAY = 86_400;
const MONDAY = Date.parse("2026-11-23T10:00:00Z") / 1_000;

describe.each(["mariadb", "postgres"] as const)("partitions by day on %s", (kind) => {
  let kit: StoreKit;
  beforeAll(async () => {
    kit = await openStoreKit(await createDatabase(kind));
    kit.clock.set(MONDAY);
  });
  afterAll(() => kit.database.close());

  const confirm = () => Promise.resolve();
  const make = () => makeNextPartitions({ logDatabase: kit.database, clock: kit.clock }, confirm);
  const names = async () => (await readPartitions(kit.database)).map(({ name }) => name);
  const retain = (days: number, { errorDays = 0, lease = confirm } = {}) => {
    const jobs = { run: () => Promise.reject(new Error("a short removal is no job")) };
    const deps = { logDatabase: kit.database, clock: kit.clock, log: quietLog, jobs };
    return removeOldLogs(
      { ...deps, days: () => days, errorDays: () => errorDays },
      { signal: new AbortController().signal, confirm: lease },
    );
  };
  const left = async () => {
    const rows = await kit.database.db.selectFrom("logs").select("request_id").orderBy("created_at").execute();
    return rows.map((row) => row.request_id);
  };

  test("today and three more days are ready, and each day adds one", async () => {
    await make();
    expect(await names()).toEqual(["p20261123", "p20261124", "p20261125", "p20261126", "rest"]);
    await make();
    expect(await names()).toHaveLength(5);
    kit.clock.set(MONDAY + DAY);
    await make();
    expect((await names()).slice(-2)).toEqual(["p20261127", "rest"]);
  });

  test("days on which no process ran share a partition", async () => {
    kit.clock.set(MONDAY + 40 * DAY);
    await make();
    expect((await names()).slice(-6)).toEqual([
      "p20261127",
      "p20270102",
      "p20270103",
      "p20270104",
      "p20270105",
      "rest",
    ]);
  });

  test("a partition is dropped once its last row is too old, with one statement and no row deleted by itself", async () => {
    const at = (day: number, request_id: string, type = 2) => ({ created_at: MONDAY + day * DAY, request_id, type });
    await insertLogs(kit.database, [at(0, "a"), at(1, "b"), at(2, "c"), at(3, "d"), at(3, "failed", 5), at(4, "e")]);
    kit.clock.set(MONDAY + 4 * DAY);
    await retain(2);
    // The 25th ends 34 hours before the clock, the 24th 58 hours: rows are removed only when their whole day is old
    // enough.
    expect(await left()).toEqual(["c", "d", "failed", "e"]);
    expect((await names())[0]).toBe("p20261125");
    expect(await oldestRowTime(kit.database.raw)).toBe((MONDAY + 2 * DAY + 1) * 1_000);
  });

  test("rows older than their partition, and failed calls with a shorter retention, are deleted one by one", async () => {
    await insertLogs(kit.database, [
      { created_at: MONDAY - 9 * DAY, request_id: "very late" },
      { created_at: MONDAY + 4 * DAY + 60, request_id: "newest" },
    ]);
    kit.clock.set(MONDAY + 4 * DAY + 2 * 3_600);
    await retain(2, { errorDays: 1 });
    expect(await left()).toEqual(["c", "d", "e", "newest"]);
  });

  test("a leader that lost the lease drops nothing", async () => {
    kit.clock.set(MONDAY + 5 * DAY);
    const lost = () => Promise.reject(new LeadershipLost("frozen"));
    await expect(retain(2, { lease: lost })).rejects.toThrow(LeadershipLost);
    expect(await left()).toEqual(["c", "d", "e", "newest"]);
  });

  test("the newest row stays whatever its age, so that no id is given twice", async () => {
    kit.clock.set(MONDAY + 60 * DAY);
    const newest = await newestLogId(kit.database);
    await retain(2);
    expect(await newestLogId(kit.database)).toBe(newest);
  });
});

describe.each(["mariadb", "postgres"] as const)("a log that is stored for ever on %s", (kind) => {
  const most = kind === "mariadb" ? 400 : 100;

  test(`gets longer partitions after ${most} days`, async () => {
    const kit = await openStoreKit(await createDatabase(kind));
    const deps = { logDatabase: kit.database, clock: kit.clock };
    for (let days = 0; days <= most; days += days < most - 6 ? 3 : 1) {
      kit.clock.set(MONDAY + days * DAY);
      await makeNextPartitions(deps, () => Promise.resolve());
    }
    const all = await readPartitions(kit.database);
    const [before, last, rest] = all.slice(-3);
    expect(all.length).toBeGreaterThan(most);
    expect(rest?.name).toBe("rest");
    expect((last?.before ?? 0) - (before?.before ?? 0)).toBe(30 * DAY);
    await kit.database.close();
  }, 60_000);
});

test("an account that may not change tables gets one line about it, and its old rows are deleted one by one", async () => {
  const url = await createDatabase("postgres");
  const owner = await openStoreKit(url);
  owner.clock.set(MONDAY);
  await makeNextPartitions({ logDatabase: owner.database, clock: owner.clock }, () => Promise.resolve());
  const role = `limited_${Math.random().toString(36).slice(2)}`;
  for (const sql of [
    `create role ${role} login password 'limited'`,
    `grant select, insert, update, delete on all tables in schema public to ${role}`,
    `grant usage on all sequences in schema public to ${role}`,
  ])
    await owner.database.raw.run(sql, []);
  const limitedUrl = new URL(url);
  limitedUrl.username = role;
  limitedUrl.password = "limited";
  const limited = openDatabase({ url: limitedUrl.href, log: quietLog });
  await insertLogs(limited, [
    { created_at: MONDAY, request_id: "old" },
    { created_at: MONDAY + 9 * DAY, request_id: "new" },
  ]);
  owner.clock.set(MONDAY + 9 * DAY);
  const lines: string[] = [];
  const log = { info: () => {}, warn: (text: string) => void lines.push(text) };
  const deps = { logDatabase: limited, clock: owner.clock, log };
  const signal = new AbortController().signal;
  const partitions = logPartitionsJob(deps);
  const jobs = { run: () => Promise.reject(new Error("a short removal is no job")) };
  const retention = logRetentionJob({ ...deps, days: () => 2, errorDays: () => 0, jobs });
  for (const job of [partitions, partitions, retention, retention]) await job.run(signal, () => Promise.resolve());
  expect(lines).toEqual([
    expect.stringContaining("new days get no partition of the log: let the account"),
    expect.stringContaining("old log rows are deleted one by one: let the account"),
  ]);
  const left = await limited.db.selectFrom("logs").select("request_id").execute();
  expect(left).toEqual([{ request_id: "new" }]);
  await limited.close();
  await owner.database.raw.run(`drop owned by ${role}`, []);
  await owner.database.raw.run(`drop role ${role}`, []);
  await owner.database.close();
});
