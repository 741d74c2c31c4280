import type { Batch, BatchDetail, BatchItem, StoredAccount } from "@fairway/wire";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { checkCounters } from "../../../src/billing/audit/counters.ts";
import { checkLedgerSums } from "../../../src/billing/audit/sums.ts";
import type { BatchRow } from "../../../src/batches/row.ts";
import { readLedger, startBatchApp, type BatchApp } from "./batch-kit.ts";

/** 100 input and 50 output tokens at 0.5 and 2.5 dollars for a million, rounded for each item. */
const CHARGE = 88;
const FULL = 175;
const WAIT = { timeout: 20_000 };

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

const must = <D>(method: string, path: string, body?: object) => app.gateway.root.must<D>(method, path, body);
async function readCode(method: string, path: string, body?: object): Promise<string | undefined> {
  const { url, headers } = app.gateway.root;
  const json = body && { headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(url + path, { method, headers, ...json });
  return ((await response.json()) as { code?: string }).code;
}
const readPhase = async (id: string) => (await must<Batch>("GET", `/api/batch/${id}`)).phase;
const readRow = (id: string) =>
  app.gateway.database.db.selectFrom("batches").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
const change = (id: string, patch: Partial<BatchRow>) =>
  app.gateway.database.db.updateTable("batches").set(patch).where("id", "=", id).execute();

async function readBalance(): Promise<number> {
  const users = app.gateway.database.db.selectFrom("users").select("quota");
  return (await users.where("id", "=", app.gateway.root.userId).executeTakeFirstOrThrow()).quota;
}

it("shows what a batch and each of its requests cost, and what was saved", async () => {
  const { id, upstreamId } = await app.open(["a", "b", "c"]);
  expect(await readCode("GET", `/api/batch/${id}/item?custom_id=a`)).toBe("BT2");
  app.gateway.upstream.batches.end(upstreamId, { c: "errored" });
  await app.settle(id);
  const batch = await must<BatchDetail>("GET", `/api/batch/${id}`);
  expect(batch).toMatchObject({ charged: 2 * CHARGE, saved: 2 * (FULL - CHARGE), succeeded: 2, failed: 1 });
  expect(batch.prices).toMatchObject([
    { model: "claude-haiku-4-5", input_ratio: 0.5, output_ratio: 0.5, model_ratio: 0.5, completion_ratio: 5 },
  ]);
  expect(await must<BatchItem>("GET", `/api/batch/${id}/item?custom_id=b`)).toMatchObject({
    result: "succeeded",
    model: "claude-haiku-4-5",
    prompt_tokens: 100,
    completion_tokens: 50,
    quota: CHARGE,
    full_quota: FULL,
    price: batch.prices[0],
  });
  expect(await must("GET", `/api/batch/${id}/item?custom_id=c`)).toMatchObject({
    result: "failed",
    quota: 0,
    price: null,
  });
  expect(await readCode("GET", `/api/batch/${id}/item?custom_id=d`)).toBe("BT6");
  app.gateway.upstream.batches.end(upstreamId, {}, { missingReads: 100 });
  expect(await readCode("GET", `/api/batch/${id}/item?custom_id=a`)).toBe("BT5");
  const ledger = await readLedger(app.gateway, batch.request_id);
  expect(ledger.map(({ kind }) => kind)).toEqual(["deposit", "return", "consume"]);
});

it("cancels an open batch at its upstream, and says so in the audit log", async () => {
  const { id } = await app.open(["a"]);
  expect(await must("POST", `/api/batch/${id}/cancel`)).toMatchObject({ id, phase: "open" });
  expect(app.gateway.upstream.requests.map(({ path }) => path)).toContainEqual(expect.stringMatching(/cancel$/));
  const rows = app.gateway.database.db.selectFrom("audit_log").select("target").where("action", "=", "batchCancel");
  expect(await rows.execute()).toContainEqual({ target: `batch ${id}` });
  app.gateway.upstream.batches.failNext(500);
  expect(await readCode("POST", `/api/batch/${id}/cancel`)).toBe("BT3");
});

it("reads the results of a stuck batch again when a person says so", async () => {
  const { id, upstreamId } = await app.open(["a"]);
  app.gateway.upstream.batches.end(upstreamId);
  await change(id, { phase: "stuck", ended_at: 1, succeeded: 1, next_poll_at: Date.now() + 86_400_000 });
  await must("POST", `/api/batch/${id}/settle`);
  await expect.poll(() => readPhase(id), WAIT).toBe("settled");
  expect((await readRow(id)).charged).toBe(CHARGE);
  expect(await readCode("POST", `/api/batch/${id}/settle`)).toBe("BT2");
  expect(await readCode("POST", `/api/batch/${id}/abandon`)).toBe("BT2");
}, 60_000);

it("stops asking about a batch that cannot be read, and follows it again when a person says so", async () => {
  const { id, upstreamId } = await app.open(["a"]);
  app.gateway.upstream.batches.failNext(404);
  await change(id, { created_at: 1, expires_at: 1, next_poll_at: 0 });
  await expect.poll(() => readPhase(id), WAIT).toBe("stuck");
  expect((await readRow(id)).next_poll_at).toBe(Number.MAX_SAFE_INTEGER);
  app.gateway.upstream.batches.end(upstreamId);
  expect(await must("POST", `/api/batch/${id}/settle`)).toMatchObject({ phase: "open" });
  await expect.poll(() => readPhase(id), WAIT).toBe("settled");
  expect((await readRow(id)).charged).toBe(CHARGE);
}, 60_000);

it.each([
  ["open", {}],
  ["creating", { upstream_id: "" }],
] as const)(
  "is never booked by its results alone while its end is unknown, and was %s",
  async (_, patch) => {
    const { id, upstreamId } = await app.open(["a", "b"]);
    // A part of the results can be read before the upstream has ended the batch.
    app.gateway.upstream.batches.end(upstreamId, {}, { linesSent: 1 });
    await change(id, { ...patch, phase: "stuck", error: "unreachable", ended_at: 0, next_poll_at: 0 });
    await expect.poll(() => readPhase(id), WAIT).not.toBe("stuck");
    app.gateway.upstream.batches.end(upstreamId);
    await expect
      .poll(
        async () => {
          await app.makeDue(id);
          return readPhase(id);
        },
        { timeout: 60_000, interval: 1_000 },
      )
      .toBe("settled");
    expect((await readRow(id)).charged).toBe(2 * CHARGE);
  },
  90_000,
);

it("is read with another key of its account, when an administrator says which one that is", async () => {
  const { id, upstreamId } = await app.open(["a"]);
  const { channel_id: channel, key_mark: lost } = await readRow(id);
  await must("PUT", "/api/channel/", { id: channel, key: "sk-rotated" });
  await app.makeDue(id);
  await expect.poll(async () => (await readRow(id)).error, WAIT).toBe("key_lost");
  const accounts = await must<StoredAccount[]>("GET", `/api/channel/${channel}/objects`);
  const next = accounts.find(({ key_index: index }) => index === 0)?.mark ?? "";
  const [before] = accounts.filter(({ mark }) => mark === lost);
  expect(before).toMatchObject({ key_index: -1, files: 0 });
  expect(before?.batches).toBeGreaterThan(0);
  expect(await readCode("POST", `/api/channel/${channel}/objects/rebind`, { from_mark: lost, to_mark: "none" })).toBe(
    "FI3",
  );
  const moved = await must("POST", `/api/channel/${channel}/objects/rebind`, { from_mark: lost, to_mark: next });
  expect(moved).toEqual({ files: 0, batches: before?.batches });
  app.gateway.upstream.batches.end(upstreamId);
  await app.makeDue(id);
  await expect.poll(() => readPhase(id), WAIT).toBe("settled");
  expect((await readRow(id)).charged).toBe(CHARGE);
  expect(await readCode("GET", "/api/channel/9999999/objects")).toBe("CH8");
}, 60_000);

it("holds its channel, and is cancelled at its upstream when the channel is deleted by force", async () => {
  const channel = await app.gateway.channel("claude-haiku-4-5", { type: 14, key: "sk-other", priority: 5 });
  const { id, upstreamId } = await app.open(["a"]);
  expect((await readRow(id)).channel_id).toBe(channel);
  const remove = (query = "") => readCode("DELETE", `/api/channel/${channel}${query}`);
  expect(await remove()).toBe("CH30");
  expect(await readCode("POST", "/api/channel/batch", { ids: [channel] })).toBe("CH30");
  expect(await must("POST", "/api/channel/bulk", { action: "delete", ids: [channel] })).toMatchObject([
    { id: channel, success: false, message: expect.stringMatching(/^1 batches are running or unsettled/) as unknown },
  ]);
  expect(app.gateway.upstream.batches.batches.get(upstreamId)?.status).toBe("in_progress");
  expect(await remove("?force=true")).toBeUndefined();
  expect(app.gateway.upstream.batches.batches.get(upstreamId)?.status).toBe("canceling");
  expect(await readRow(id)).toMatchObject({ phase: "stuck", error: "channel_deleted" });
  await must("POST", `/api/batch/${id}/abandon`);
  // A provider that does not answer keeps no channel.
  const second = await app.gateway.channel("claude-haiku-4-5", { type: 14, key: "sk-other", priority: 5 });
  const lost = await app.open(["b"]);
  app.gateway.upstream.batches.failNext(500);
  const forced = { action: "delete", ids: [second], force: true };
  expect(await must("POST", "/api/channel/bulk", forced)).toMatchObject([{ id: second, success: true }]);
  expect(await readPhase(lost.id)).toBe("stuck");
  await must("POST", `/api/batch/${lost.id}/abandon`);
});

describe("a batch whose channel was deleted", () => {
  const PHASES = [
    ["creating", { phase: "creating", upstream_id: "" }],
    ["open", { phase: "open" }],
    ["ended", { phase: "ended", ended_at: 1_700_000_000, succeeded: 1 }],
  ] as const;

  it.each(PHASES)(
    "is stuck while it is %s, and returns its deposit when it is abandoned",
    async (_, patch) => {
      const before = await readBalance();
      const { id } = await app.open(["a"]);
      const { channel_id: channel, request_id: request, deposit } = await readRow(id);
      expect(await readBalance()).toBe(before - deposit);
      await app.gateway.root.must("DELETE", `/api/channel/${channel}?force=true`);
      await change(id, { ...patch, next_poll_at: 0 });
      await expect.poll(() => readPhase(id), { timeout: 45_000 }).toBe("stuck");
      expect(await must("GET", `/api/batch/${id}`)).toMatchObject({ error: "channel_deleted" });
      expect(await readCode("POST", `/api/batch/${id}/settle`)).toBe("BT4");
      expect(await readCode("GET", `/api/batch/${id}/item?custom_id=a`)).toBe("BT4");
      const answers = await Promise.all([1, 2, 3].map(() => readCode("POST", `/api/batch/${id}/abandon`)));
      expect(answers.filter((code) => code === undefined)).toHaveLength(1);
      expect(await must("GET", `/api/batch/${id}`)).toMatchObject({ phase: "settled", outcome: "failed", charged: 0 });
      expect(await readBalance()).toBe(before);
      const ledger = await readLedger(app.gateway, request);
      expect(ledger.map(({ kind, quota }) => [kind, quota])).toEqual([
        ["deposit", -deposit],
        ["return", deposit],
      ]);
      const events = app.gateway.database.db
        .selectFrom("events")
        .select("type")
        .where("dedup_key", "=", `batch.ended:${id}`);
      expect(await events.execute()).toEqual([{ type: "batch.failed" }]);
      const models = "claude-haiku-4-5,alias";
      await app.gateway.channel(models, { type: 14, key: "sk-test" });
    },
    90_000,
  );
});
