import { afterAll, beforeAll, expect, it } from "vitest";
import { startBatchApp, type BatchApp } from "./batch-kit.ts";

let app: BatchApp;

beforeAll(async () => {
  app = await startBatchApp();
}, 60_000);
afterAll(() => app.gateway.close());

const readMetrics = async () => (await fetch(`${app.gateway.adminUrl}/metrics`)).text();
const WAIT = { timeout: 70_000, interval: 1_000 };

it("counts batches by phase, their deposits, and their requests by how they ended", async () => {
  const { id, upstreamId } = await app.open(["a", "b", "c"]);
  const stuck = await app.open(["d"]);
  // No job reads the row before the test has ended.
  const patch = { phase: "stuck", next_poll_at: Number.MAX_SAFE_INTEGER } as const;
  await app.gateway.database.db.updateTable("batches").set(patch).where("id", "=", stuck.id).execute();
  const rows = await app.gateway.database.db.selectFrom("batches").select("deposit").execute();
  const deposits = rows.reduce((sum, { deposit }) => sum + deposit, 0);
  await expect.poll(readMetrics, WAIT).toContain('fairway_batches{provider="claude",phase="stuck"} 1');
  const counted = await readMetrics();
  expect(counted).toContain('fairway_batches{provider="claude",phase="open"} 1');
  expect(counted).toContain(`fairway_deposit_quota ${deposits}`);
  app.gateway.upstream.batches.end(upstreamId, { c: "errored" });
  await app.settle(id);
  await expect.poll(readMetrics, WAIT).toContain('fairway_batch_items_total{provider="claude",result="succeeded"} 2');
  const settled = await readMetrics();
  expect(settled).toContain('fairway_batch_items_total{provider="claude",result="failed"} 1');
  expect(settled).toContain("fairway_batch_settle_seconds_count 1");
  expect(settled).toContain("fairway_batch_over_deposit_total 0");
}, 120_000);
