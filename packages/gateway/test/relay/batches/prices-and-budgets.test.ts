// The prices of its creation bind a batch, and so do the budgets that paid its deposit.
import type { Budget } from "@fairway/wire";
import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { checkCounters } from "../../../src/billing/audit/counters.ts";
import { checkDeposits } from "../../../src/billing/audit/deposits.ts";
import { checkLedgerSums } from "../../../src/billing/audit/sums.ts";
import { createTenant } from "../../kit/tenants.ts";
import { startBatchApp, type BatchApp } from "./batch-kit.ts";

/** 100 input and 50 output tokens at 0.5 and 2.5 dollars for a million, rounded for each item. */
const CHARGE = 88;
const MODEL = "claude-haiku-4-5";

eachDatabase("a batch", (open) => {
  let app: BatchApp;
  beforeAll(async () => {
    app = await startBatchApp({ FAIRWAY_DATABASE_URL: await open() });
  }, 60_000);
  afterAll(() => app.gateway.close());
  beforeEach(() => app.gateway.upstream.reset());
  afterEach(async () => {
    await app.gateway.settled();
    const { raw } = app.gateway.database;
    expect([await checkLedgerSums(raw), await checkCounters(raw), await checkDeposits(raw)]).toEqual([[], [], []]);
  });

  const readRow = (id: string) =>
    app.gateway.database.db.selectFrom("batches").selectAll().where("id", "=", id).executeTakeFirstOrThrow();

  it("costs what it would have cost when it was created, whatever becomes of prices, ratios and groups", async () => {
    const { id, upstreamId } = await app.open(["a", "b"]);
    const changed = {
      ModelRatio: JSON.stringify({ [MODEL]: 500 }),
      CompletionRatio: JSON.stringify({ [MODEL]: 9 }),
      BatchRatios: JSON.stringify({ [MODEL]: 1 }),
      GroupRatio: JSON.stringify({ default: 7 }),
    };
    const before: Record<string, string> = {};
    const options = await app.gateway.root.must<{ key: string; value: string }[]>("GET", "/api/option/");
    for (const { key, value } of options) before[key] = value;
    for (const [name, value] of Object.entries(changed)) await app.gateway.option(name, value);
    app.gateway.upstream.batches.end(upstreamId);
    await app.settle(id);
    expect((await readRow(id)).charged).toBe(2 * CHARGE);
    const next = await app.open(["a"]);
    expect((await readRow(next.id)).deposit).toBeGreaterThan(100 * CHARGE);
    for (const name of Object.keys(changed)) await app.gateway.option(name, before[name] ?? "{}");
    app.gateway.upstream.batches.end(next.upstreamId);
    await app.settle(next.id);
  }, 90_000);

  it("is refused by a budget that does not cover its greatest cost, and then nothing is sent or deposited", async () => {
    const key = await createTenant(app.gateway);
    const { db } = app.gateway.database;
    const { id: userId } = await db.selectFrom("users").select("id").orderBy("id", "desc").executeTakeFirstOrThrow();
    const probe = await app.create(`{"requests":[${app.item("a")}]}`, key);
    const first = (await probe.json()) as { id: string };
    const { deposit, upstream_id: upstreamId } = await readRow(first.id);
    app.gateway.upstream.reset();
    const limit = { scope: "user", subject: String(userId), period: "month", quota_limit: 2 * deposit };
    const { id } = await app.gateway.root.must<Budget>("POST", "/api/budget/", limit);
    const readUsed = async () => {
      const all = await app.gateway.root.must<{ items: Budget[] } | Budget[]>("GET", "/api/budget/");
      return (Array.isArray(all) ? all : all.items).find((one) => one.id === id)?.used;
    };
    const items = (count: number) => Array.from({ length: count }, (_none, at) => app.item(`i${at}`)).join();
    const refused = await app.create(`{"requests":[${items(3)}]}`, key);
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining("budget")]);
    expect(app.gateway.upstream.requests).toEqual([]);
    const rows = await db.selectFrom("batches").select(["phase", "deposit"]).where("user_id", "=", userId).execute();
    expect(rows).toEqual(
      expect.arrayContaining([
        { phase: "open", deposit },
        { phase: "refused", deposit: 0 },
      ]),
    );
    const made = (await (await app.create(`{"requests":[${items(2)}]}`, key)).json()) as { id: string };
    const row = await readRow(made.id);
    await expect.poll(readUsed).toBe(row.deposit);
    app.gateway.upstream.batches.end(row.upstream_id);
    await app.settle(made.id);
    // The budget bears what the batch has cost.
    await expect.poll(readUsed, { timeout: 20_000 }).toBe(2 * CHARGE);
    await app.gateway.root.must("DELETE", `/api/budget/${id}`);
    expect(upstreamId).not.toBe("");
  }, 90_000);
});
