import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { checkCounters } from "../../../src/billing/audit/counters.ts";
import { checkLedgerSums } from "../../../src/billing/audit/sums.ts";
import { consumeRows } from "../../kit/relay-app.ts";
import { readLedger, startBatchApp, type BatchApp } from "./batch-kit.ts";

/** 100 input and 50 output tokens at 0.5 and 2.5 dollars for a million, rounded for each item. */
const CHARGE = 88;

let app: BatchApp;

beforeAll(async () => {
  app = await startBatchApp();
}, 60_000);
afterAll(() => app.gateway.close());
beforeEach(() => app.gateway.upstream.reset());
afterEach(async () => {
  const { database } = app.gateway;
  expect(await checkLedgerSums(database.raw)).toEqual([]);
  expect(await checkCounters(database.raw)).toEqual([]);
});

async function readRow(id: string) {
  const row = await app.gateway.database.db
    .selectFrom("batches")
    .selectAll()
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  const ledger = await readLedger(app.gateway, row.request_id);
  const logs = await consumeRows(app.gateway, row.request_id);
  return { row, ledger: ledger.map(({ kind, quota }) => [kind, quota]), logs };
}

it("returns the deposit and charges what succeeded at half the price, with one row of the log", async () => {
  const { id, upstreamId } = await app.open(["a", "b", "c", "d"]);
  app.gateway.upstream.batches.end(upstreamId, { c: "errored", d: "expired" });
  await app.settle(id);
  const { row, ledger, logs } = await readRow(id);
  expect(row).toMatchObject({ charged: 2 * CHARGE, succeeded: 2, failed: 1, expired: 1, phase: "settled" });
  expect(ledger).toEqual([
    ["deposit", -row.deposit],
    ["return", row.deposit],
    ["consume", -2 * CHARGE],
  ]);
  expect(logs).toMatchObject([
    { quota: 2 * CHARGE, prompt_tokens: 200, completion_tokens: 100, model_name: "claude-haiku-4-5" },
  ]);
  expect(logs[0]?.other["batch"]).toMatchObject({ id, items: 4, succeeded: 2, failed: 1, expired: 1, saved: 2 * 87 });
  for (let read = 0; read < 5; read++) await app.read(id);
  expect((await readRow(id)).ledger).toEqual(ledger);
});

it("counts repeated, unknown and unreadable lines as nothing", async () => {
  const { id, upstreamId } = await app.open(["a", "b"]);
  const faults = { duplicates: ["a"], unknownIds: ["x", "y"], hasUnreadableLine: true };
  app.gateway.upstream.batches.end(upstreamId, {}, faults);
  await app.settle(id);
  const { row, logs } = await readRow(id);
  expect(row.charged).toBe(2 * CHARGE);
  expect(logs[0]?.other["batch"]).toMatchObject({ succeeded: 2, unreadable: 3, duplicates: 1 });
});

it("waits for results that are missing or cut, and then books all of them once", async () => {
  const { id, upstreamId } = await app.open(["a", "b"]);
  const { batches } = app.gateway.upstream;
  batches.end(upstreamId, {}, { linesSent: 1 });
  await app.gateway.database.db.updateTable("batches").set({ polled_at: 0 }).where("id", "=", id).execute();
  await app.read(id);
  await expect.poll(async () => (await readRow(id)).row.error, { timeout: 15_000 }).toBe("short_results");
  expect((await readRow(id)).ledger).toHaveLength(1);
  batches.end(upstreamId, {}, { missingReads: 10 });
  await app.makeDue(id);
  await expect.poll(async () => (await readRow(id)).row.error, { timeout: 15_000 }).toBe("results_unreadable");
  batches.end(upstreamId);
  await app.makeDue(id);
  await app.settle(id);
  expect((await readRow(id)).ledger.map(([kind]) => kind)).toEqual(["deposit", "return", "consume"]);
});

it("is stuck while its results stay unreadable, and is booked when they can be read again", async () => {
  const { id, upstreamId } = await app.open(["a", "b"]);
  const { batches } = app.gateway.upstream;
  const { db } = app.gateway.database;
  batches.end(upstreamId, {}, { missingReads: 10 });
  await db.updateTable("batches").set({ polled_at: 0 }).where("id", "=", id).execute();
  await app.read(id);
  await expect.poll(async () => (await readRow(id)).row.error, { timeout: 15_000 }).toBe("results_unreadable");
  await db.updateTable("batches").set({ ended_at: 1 }).where("id", "=", id).execute();
  await app.makeDue(id);
  await expect.poll(async () => (await readRow(id)).row.phase, { timeout: 15_000 }).toBe("stuck");
  const { row } = await readRow(id);
  expect(row.next_poll_at - Date.now()).toBeGreaterThan(23 * 3_600_000);
  expect((await readRow(id)).ledger).toEqual([["deposit", -row.deposit]]);
  batches.end(upstreamId);
  await app.makeDue(id);
  await expect.poll(async () => (await readRow(id)).row.phase, { timeout: 15_000 }).toBe("settled");
  expect((await readRow(id)).row.charged).toBe(2 * CHARGE);
}, 60_000);

it("books no charge for a batch without a single success", async () => {
  const { id, upstreamId } = await app.open(["a"]);
  app.gateway.upstream.batches.end(upstreamId, { a: "canceled" });
  await app.settle(id);
  const { ledger, logs } = await readRow(id);
  expect(ledger.map(([kind]) => kind)).toEqual(["deposit", "return"]);
  expect(logs).toMatchObject([{ quota: 0 }]);
});

it("adopts a batch whose creation lost its answer, or returns its deposit", async () => {
  app.gateway.upstream.batches.loseNextAnswer();
  const lost = await app.create(`{"requests":[${app.item("a")},${app.item("b")}]}`);
  expect(lost.status).toBe(502);
  const { id } = await app.gateway.database.db
    .selectFrom("batches")
    .select("id")
    .where("phase", "=", "creating")
    .executeTakeFirstOrThrow();
  await app.makeDue(id);
  await expect.poll(async () => (await readRow(id)).row.phase, { timeout: 45_000 }).toBe("open");
  app.gateway.upstream.batches.end((await readRow(id)).row.upstream_id);
  await app.settle(id);
  expect((await readRow(id)).row.charged).toBe(2 * CHARGE);
}, 90_000);

it("refuses a batch that the balance does not cover, and keeps nothing of it", async () => {
  const key = await app.gateway.token({ unlimited_quota: false, remain_quota: 10 });
  const response = await app.create(`{"requests":[${app.item("a")}]}`, key);
  expect(response.status).toBe(402);
  expect(app.gateway.upstream.requests).toEqual([]);
  const rows = await readLedger(app.gateway, response.headers.get("request-id"));
  expect(rows.reduce((sum, { quota }) => sum + quota, 0)).toBe(0);
});

it("keeps the deposit of a batch whose channel was deleted, also when its user deletes the batch", async () => {
  const { id } = await app.open(["a"]);
  const { row: open } = await readRow(id);
  await app.gateway.root.must("DELETE", `/api/channel/${open.channel_id}?force=true`);
  await expect.poll(async () => (await readRow(id)).row.phase, { timeout: 15_000 }).toBe("stuck");
  expect((await app.call("DELETE", `/${id}`)).status).toBe(200);
  const { row, ledger } = await readRow(id);
  expect(row.next_poll_at).toBe(Number.MAX_SAFE_INTEGER);
  expect(row.deleted_at).toBeGreaterThan(0);
  expect(ledger).toEqual([["deposit", -row.deposit]]);
}, 60_000);
