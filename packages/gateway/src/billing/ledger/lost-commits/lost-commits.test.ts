import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { eachDatabase } from "@fairway/testkit/databases";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { steadyClock } from "../../../lib/clock.ts";
import { quota } from "../../money/quota.ts";
import { createLeaseTime } from "../../reservations/lease-time.ts";
import { createDirectSettlement } from "../booking/direct-settlement.ts";
import { linesLog } from "../redis/test-harness.contract.ts";
import { openSqlHarness } from "../sql/test-harness.contract.ts";
import { createLogDetail, createSettlement, createTestAccounts, granted, requestId } from "../test-harness.contract.ts";
import { createCommitWatch, type LostCommits } from "./commit-watch.ts";
import { openHistory } from "./history.ts";
import { readIdentity } from "./identity.ts";
import { createWatchedLedger } from "./watched-ledger.ts";
import { rememberState } from "./went-back.contract.ts";

const RICH = 1_000_000;
const RETENTION_MS = 600_000;

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "fairway-history-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Opens a process without Redis on a database, with its own disk. */
async function openProcess(url: string) {
  const harness = await openSqlHarness(url);
  const { database } = harness;
  const clock = steadyClock;
  const lines: string[] = [];
  const log = linesLog(lines);
  const reports: LostCommits[] = [];
  const history = openHistory({ dir, identity: await readIdentity(database), clock, log, retentionMs: RETENTION_MS });
  const direct = createDirectSettlement({
    database,
    clock: harness.clock,
    log,
    leaseTime: createLeaseTime(database.kind, harness.clock),
    isLive: false,
    isLogSeparate: false,
    balanceLimit: undefined,
    onLogRowRefused: undefined,
    onCommit: () => undefined,
    onBalance: undefined,
    onBudgets: () => undefined,
  });
  const watch = createCommitWatch({
    database,
    history,
    clock,
    log,
    book: (charges) => direct.book(charges),
    onBack: () => undefined,
    report: (lost) => Promise.resolve(void reports.push(lost)),
    confirmMs: 10,
  });
  const ledger = createWatchedLedger({ ledger: harness.ledger, watch, history, clock, commitsOnSettle: true });
  const accounts = createTestAccounts({ ...harness, ledger });
  return {
    ...harness,
    ledger,
    accounts,
    watch,
    lines,
    reports,
    async stop() {
      await harness.close();
      history.close();
    },
  };
}

type Process = Awaited<ReturnType<typeof openProcess>>;

/** The check compares what is older than a second. */
const untilOld = () => pause(1_200);

async function charge({ ledger }: Process, user: number, token: number, amount: number) {
  const hold = await granted(ledger, user, token, 100);
  const settlement = createSettlement(hold, amount, { log: createLogDetail(0, { content: hold.requestId }) });
  await ledger.settle(settlement);
  return settlement;
}

async function expectExact({ accounts, database }: Process, user: number, token: number, charged: number) {
  expect(await accounts.user(user)).toMatchObject({ quota: RICH - charged, used_quota: charged });
  expect((await accounts.token(token)).used_quota).toBe(charged);
  const logs = await accounts.logs(user);
  expect(logs.reduce((sum, row) => sum + row.quota, 0)).toBe(charged);
  expect(new Set(logs.map((row) => row.request_id)).size).toBe(logs.length);
  const [booked] = await database.rows<{ n: number }>(
    "select coalesce(sum(quota), 0) as n from ledger where user_id = ? and kind in ('consume', 'correct')",
    [user],
  );
  expect(Number(booked?.n)).toBe(-charged);
  expect(await database.rows("select request_id from holds", [])).toEqual([]);
}

eachDatabase("a database that goes back", (open) => {
  it("gets the charges of the lost seconds again, each once, and reports what cannot come back", async () => {
    const running = await openProcess(await open());
    const { accounts, ledger, watch, database, reports } = running;
    const user = await accounts.addUser(RICH);
    const token = await accounts.addToken(user, "unlimited");
    for (let at = 0; at < 5; at += 1) await charge(running, user, token, 10);
    const reappears = await granted(ledger, user, token, 100);
    const goBack = await rememberState(database);
    for (let at = 0; at < 20; at += 1) await charge(running, user, token, 7);
    await ledger.settle(createSettlement(reappears, 3, { log: createLogDetail(0) }));
    const topUp = { requestId: requestId(), kind: "topup", userId: user, quota: quota(500) } as const;
    expect(await ledger.change(topUp)).toBe(true);
    await untilOld();
    await goBack();
    await watch.check();
    await expectExact(running, user, token, 50 + 140 + 3);
    expect(reports).toMatchObject([{ rebooked: 21, rebookedQuota: 143, changes: [{ ...topUp }] }]);
    await watch.check();
    expect(reports).toHaveLength(1);
    await expectExact(running, user, token, 193);
    await running.stop();
  });

  it("is noticed by the next process on the disk, before reservations that came back are charged", async () => {
    const url = await open();
    const first = await openProcess(url);
    const user = await first.accounts.addUser(RICH);
    const token = await first.accounts.addToken(user, "unlimited");
    const reappears = await granted(first.ledger, user, token, 100);
    await first.ledger.renew(reappears, createSettlement(reappears, 60, { log: createLogDetail(0) }));
    const goBack = await rememberState(first.database);
    await charge(first, user, token, 7);
    await first.ledger.settle(createSettlement(reappears, 30, { log: createLogDetail(0) }));
    await pause(50);
    await goBack();
    await first.stop();
    const next = await openProcess(url);
    next.clock.advance(next.leaseMs + 1);
    await next.ledger.reap();
    expect(next.reports).toMatchObject([{ rebooked: 2, rebookedQuota: 37 }]);
    await expectExact(next, user, token, 37);
    await next.stop();
  });

  it("is not suspected while nothing is missing, nor after another database took its place", async () => {
    const running = await openProcess(await open());
    const user = await running.accounts.addUser(RICH);
    const token = await running.accounts.addToken(user, "unlimited");
    await charge(running, user, token, 7);
    const released = await granted(running.ledger, user, token, 100);
    await running.ledger.release(released);
    await untilOld();
    await running.watch.check();
    await running.stop();
    const other = await openProcess(await open());
    await other.ledger.reap();
    expect([...running.reports, ...other.reports]).toEqual([]);
    await other.stop();
  });
});

describe("an embedded database", () => {
  it("whose older file is put back has every charge of the retained time again", async () => {
    const file = join(dir, "fairway.db");
    const url = `sqlite:${file}`;
    const first = await openProcess(url);
    const user = await first.accounts.addUser(RICH);
    const token = await first.accounts.addToken(user, "unlimited");
    await charge(first, user, token, 10);
    await first.stop();
    copyFileSync(file, `${file}.old`);
    const second = await openProcess(url);
    for (let at = 0; at < 10; at += 1) await charge(second, user, token, 7);
    await second.stop();
    for (const end of ["-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
    copyFileSync(`${file}.old`, file);
    const third = await openProcess(url);
    await third.ledger.reap();
    await expectExact(third, user, token, 80);
    await third.stop();
  });
});
