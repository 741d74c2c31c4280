// A batch has the tags of the call that creates it, when its items are booked hours later too.
import type { Budget } from "@fairway/wire";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startBatchApp, type BatchApp } from "../batches/batch-kit.ts";

let app: BatchApp;

beforeAll(async () => {
  app = await startBatchApp();
  await app.gateway.option("TagPolicy", JSON.stringify({ keys: { app: {} } }));
});

afterAll(() => app.gateway.close());

it("books its items with the tags and the end user of its creation", async () => {
  const headers = { "x-fairway-tags": "app=night", "x-fairway-end-user": "42" };
  const answer = await app.create(`{"requests":[${app.item("one")},${app.item("two")}]}`, app.key, headers);
  expect(answer.status).toBe(200);
  const { id } = (await answer.json()) as { id: string };
  const [row] = await app.gateway.database.raw.rows<{ upstream_id: string }>(
    "select upstream_id from batches where id = ?",
    [id],
  );
  app.gateway.upstream.batches.end(row?.upstream_id ?? "");
  await app.settle(id);
  const rows = await app.gateway.database.raw.rows("select tags, end_user from logs where type = 2", []);
  expect(rows).toEqual([{ tags: "app=night", end_user: "42" }]);
});

it("is not created with a bad header", async () => {
  const before = await app.countOpen();
  const answer = await app.create(`{"requests":[${app.item("one")}]}`, app.key, { "x-fairway-tags": "app" });
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining("X-Fairway-Tags")]);
  expect(await app.countOpen()).toBe(before);
});

it("counts in the budgets of its tags and its end user, and is refused when one is used up", async () => {
  const headers = { "x-fairway-tags": "app=nightly", "x-fairway-end-user": "43" };
  const body = `{"requests":[${app.item("one")},${app.item("two")}]}`;
  const ids: number[] = [];
  for (const [scope, subject] of [
    ["tag", "root/app=nightly"],
    ["end_user", "root/43"],
  ] as const) {
    const budget = { scope, subject, quota_limit: 1_000_000, period: "month", is_hard: true };
    ids.push((await app.gateway.root.must<Budget>("POST", "/api/budget/", budget)).id);
  }
  const answer = await app.create(body, app.key, headers);
  expect(answer.status).toBe(200);
  const { id } = (await answer.json()) as { id: string };
  const read = async () =>
    Promise.all(ids.map(async (of) => (await app.gateway.root.must<Budget>("GET", `/api/budget/${of}`)).used));
  const [row] = await app.gateway.database.raw.rows<{ upstream_id: string; deposit: number }>(
    "select upstream_id, deposit from batches where id = ?",
    [id],
  );
  expect(row?.deposit).toBeGreaterThan(0);
  await expect.poll(read).toEqual([row?.deposit, row?.deposit]);
  app.gateway.upstream.batches.end(row?.upstream_id ?? "");
  await app.settle(id);
  await expect.poll(read).toEqual([2 * 88, 2 * 88]);
  await app.gateway.root.must("PUT", "/api/budget/", { id: ids[1], quota_limit: 200 });
  const refused = await app.create(body, app.key, headers);
  expect(await refused.text()).toContain("budget");
  expect(refused.ok).toBe(false);
  expect((await app.create(body, app.key, { ...headers, "x-fairway-end-user": "44" })).status).toBe(200);
});
