// What books, proves and tidies up must not become slower with the rows that are there: no statement of it reads all of
// `ledger` or `logs`. The plans are those of real servers for the statements that the code really sends.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { createDatabase, freshRedis } from "@fairway/testkit/databases";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkLedgerSums } from "../../src/billing/audit/sums.ts";
import { bookedRequests, settledRequests } from "../../src/billing/ledger/booking/booked-requests.ts";
import { createDirectSettlement } from "../../src/billing/ledger/booking/direct-settlement.ts";
import { createLeaseTime } from "../../src/billing/reservations/lease-time.ts";
import { granted, createSettlement } from "../../src/billing/ledger/test-harness.contract.ts";
import { createSqlLedger } from "../../src/billing/ledger/sql/sql-ledger.ts";
import { quota } from "../../src/billing/money/quota.ts";
import { newPrefix, openRedisHarness } from "../../src/billing/ledger/redis/test-harness.contract.ts";
import { removeOldLogs } from "../../src/jobs/log-retention.ts";
import { EVERYTHING } from "../../src/resources/logs/filter.ts";
import { createLogStore } from "../../src/resources/logs/store.ts";
import { rollUpStatistics, STATISTICS_MARK } from "../../src/resources/statistics/rollup.ts";
import { rollUpUsage } from "../../src/resources/usage-data/rollup.ts";
import type { Database } from "../../src/storage/database.ts";
import { openStoreKit, type StoreKit } from "../kit/store-kit.ts";
import { countPartitions, recordStatements, findScans } from "./statement-plans.ts";
import { quietLog } from "../kit/support.ts";

const SEED = join(import.meta.dirname, "../../../../scripts/seed.ts");
const SIZES = "--logs 40000 --users 1200 --tokens 1500 --channels 20 --until 2026-11-01".split(" ");
const SEED_END = Date.parse("2026-11-01") / 1_000;
const DAY = 86_400;

interface Payer {
  readonly id: number;
  readonly user_id: number;
}

describe.each(["mariadb", "postgres"] as const)("with many rows of ledger and logs on %s", (kind) => {
  const recorder = recordStatements();
  let url: string;
  let kit: StoreKit;
  let database: Database;
  let payer: Payer;
  let requestIds: string[];

  beforeAll(async () => {
    url = await createDatabase(kind);
    const env = {
      ...process.env,
      FAIRWAY_ENCRYPTION_KEY: "seed-encryption-key-0123456789",
      FAIRWAY_ROOT_PASSWORD: "seed-root-password",
    };
    await promisify(execFile)(process.execPath, [SEED, "--database", url, ...SIZES], { env });
    kit = await openStoreKit(url);
    database = recorder.wrapDatabase(kit.database);
    const [one] = await kit.database.raw.rows<Payer>(
      "select tokens.id, tokens.user_id from tokens join users on users.id = tokens.user_id where users.quota > 100000 and unlimited_quota = 1 order by tokens.id limit 1",
      [],
    );
    if (!one) throw new Error("the seed made no account with money");
    payer = one;
    const some = "select request_id from ledger where kind = 'consume' order by id desc limit 16";
    requestIds = (await kit.database.raw.rows<{ request_id: string }>(some, [])).map((row) => row.request_id);
  }, 120_000);
  afterAll(() => kit.database.close());

  /** Looked at something, and at nothing as a whole. */
  const expectNoScan = async (least: number) => {
    const statements = recorder.take();
    expect(statements.length).toBeGreaterThanOrEqual(least);
    expect(await findScans(kit.database.raw, statements)).toEqual([]);
  };
  const settlements = (amount: number) =>
    requestIds.map((requestId) =>
      createSettlement(
        { requestId, userId: payer.user_id, tokenId: payer.id, amount: quota(0), leaseUntil: 0 },
        amount,
      ),
    );

  test("the settler finds booked requests, and balances are read, by index", async () => {
    const { url: redisUrl } = await freshRedis();
    const harness = await openRedisHarness(url, { redisUrl, prefix: newPrefix(), wrap: recorder.raw });
    const holds = await Promise.all(
      Array.from({ length: 16 }, () => granted(harness.ledger, payer.user_id, payer.id, 100)),
    );
    await Promise.all(holds.map((hold) => harness.ledger.settle(createSettlement(hold, 70))));
    await harness.ledger.flush();
    await harness.close();
    await expectNoScan(2);
  });

  test("a direct settlement books, finds and corrects by index", async () => {
    const { clock } = kit;
    const leaseTime = createLeaseTime(database.kind);
    const deps = {
      database: database.raw,
      clock,
      leaseTime,
      log: quietLog,
      onBalance: undefined,
      onCommit() {},
      onBudgets() {},
    };
    const directSettlement = createDirectSettlement({ ...deps, isLogSeparate: false });
    const reaped = settlements(1).map((settlement, at) => {
      const requestId = `late-${kind}-${at}`;
      return { ...settlement, hold: { ...settlement.hold, requestId } };
    });
    await directSettlement.book(settlements(1).map((settlement) => ({ settlement })));
    await directSettlement.book(reaped.map((settlement) => ({ settlement, how: "reaped" })));
    await directSettlement.book(reaped.map((settlement) => ({ settlement: { ...settlement, quota: quota(2) } })));
    await expectNoScan(3);
  });

  test("the ledger of the database settles, reaps, corrects and refunds by index", async () => {
    const { clock } = kit;
    const ledger = createSqlLedger({ database: database.raw, clock, log: quietLog });
    const hold = await granted(ledger, payer.user_id, payer.id, 100);
    await ledger.renew(hold, createSettlement(hold, 10));
    // The database's own clock decides when a reservation has expired.
    const expire = database.db.updateTable("holds").set({ lease_until: 1 });
    await expire.where("request_id", "=", hold.requestId).execute();
    expect(await ledger.reap()).toBe(1);
    await ledger.settle(createSettlement(hold, 30));
    await ledger.flush();
    const refund = { requestId: hold.requestId, kind: "refund", userId: payer.user_id, quota: quota(5) } as const;
    expect(await ledger.change(refund)).toBe(true);
    await expectNoScan(3);
  });

  test("ended requests are found by index", async () => {
    expect((await bookedRequests(database.raw, requestIds)).size).toBe(16);
    expect((await settledRequests(database.raw, requestIds)).size).toBe(16);
    await expectNoScan(2);
  });

  test("the audit sums up every account, and those with few rows by index", async () => {
    expect(await checkLedgerSums(database.raw)).toEqual([]);
    const [portion] = recorder.take();
    if (!portion) throw new Error("the audit read nothing");
    const [newest] = await kit.database.raw.rows<{ id: number }>("select max(id) as id from users", []);
    const last = newest?.id ?? 0;
    const quiet = { ...portion, values: [last - 50, last, last - 50, last], isPrepared: false };
    expect(await findScans(kit.database.raw, [quiet])).toEqual([]);
  });

  test("hourly sums read the log by its ids", async () => {
    const rollUp = (isEnabled: boolean) =>
      rollUpUsage({ database, logs: database, isEnabled: () => isEnabled, settleMs: 0 }, AbortSignal.timeout(20_000));
    const half = "update revisions set revision = 25000 where topic = 'usage-rollup'";
    await kit.database.raw.run(half, []);
    expect(await rollUp(false)).toBeGreaterThan(15_000);
    await kit.database.raw.run(half, []);
    expect(await rollUp(true)).toBeGreaterThan(15_000);
    await expectNoScan(5);
  });

  test("statistics read the log by its ids", async () => {
    await kit.database.raw.run("insert into revisions (topic, revision) values (?, ?)", [STATISTICS_MARK, 38_500]);
    const deps = { database, logs: database, clock: kit.clock, settleMs: 0 };
    expect(await rollUpStatistics(deps, new AbortController().signal)).toBeGreaterThan(1_000);
    await expectNoScan(3);
  });

  test("the log is listed by index", async () => {
    const store = createLogStore({ database, sums: database, clock: kit.clock });
    const [row] = await store.page(EVERYTHING, { offset: 0, limit: 1 });
    if (!row) throw new Error("the log is empty");
    const { user_id, username, token_name, token_id, model_name, channel_id: channel, group, request_id } = row;
    const page = { offset: 0, limit: 10 };
    for (const part of [
      { user_id },
      { username },
      { token_name },
      { token_id },
      { model_name },
      { channel },
      { group },
      { request_id },
    ])
      expect(await store.page({ ...EVERYTHING, ...part }, page)).not.toEqual([]);
    expect(await store.page({ ...EVERYTHING, ownerId: user_id, type: 2 }, page)).not.toEqual([]);
    expect(await store.page(EVERYTHING, { ...page, before: await store.cursorAt(row.id - 20_000) })).toHaveLength(10);
    await store.ofToken(user_id, row.token_id);
    await store.after(EVERYTHING, row.id - 10, 10);
    await store.newestId();
    expect(await store.spent({ ...EVERYTHING, user_id })).toBeGreaterThan(0);
    await store.rates({ ...EVERYTHING, user_id });
    await expectNoScan(12);
  });

  test("questions about a day read the partition of that day alone", async () => {
    kit.clock.set(SEED_END);
    const store = createLogStore({ database, sums: database, clock: kit.clock });
    const [row] = await store.page(EVERYTHING, { offset: 0, limit: 1 });
    if (!row) throw new Error("the log is empty");
    recorder.take();
    const day = { ...EVERYTHING, start_timestamp: SEED_END - 5 * DAY, end_timestamp: SEED_END - 4 * DAY - 1 };
    const before = { createdAt: SEED_END - 5 * DAY + 7_200, id: row.id };
    const narrow = [{}, { user_id: row.user_id }, { model_name: row.model_name }, { channel: row.channel_id }];
    for (const part of [
      ...narrow,
      { group: row.group },
      { type: 5 },
      { status: 429 },
      { models: [row.model_name, "m"] },
    ]) {
      const query = { ...day, ...part };
      await store.page(query, { offset: 0, limit: 10 });
      await store.page(query, { offset: 0, limit: 10, before });
      await store.total(query);
      await store.facets(query);
      await store.histogram(query);
      await store.spent(query);
    }
    const read = recorder.take();
    // The others find the ends of the log, whatever the period is.
    const ofDay = read.filter(({ sql }) => /created_at.? [<>]=/.test(sql));
    expect(ofDay.length).toBeGreaterThan(30);
    const wide: string[] = [];
    for (const statement of ofDay) {
      const count = await countPartitions(kit.database.raw, statement);
      if (count > 1) wide.push(`${count}: ${statement.sql}`);
    }
    expect(wide).toEqual([]);
  });

  test("old rows are found and deleted by index", async () => {
    kit.clock.set(SEED_END);
    const jobs = { run: () => Promise.reject(new Error("a short removal is no job")) };
    const days = () => 29;
    const term = { signal: AbortSignal.timeout(20_000), confirm: () => Promise.resolve() };
    await removeOldLogs({ logDatabase: database, clock: kit.clock, log: quietLog, days, errorDays: days, jobs }, term);
    const left = "select count(*) as rest from logs where created_at < ?";
    expect(await kit.database.raw.rows(left, [SEED_END - 29 * DAY])).toEqual([{ rest: 0 }]);
    await expectNoScan(5);
  });
});
