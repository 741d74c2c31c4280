// A batch has the tags of the call that creates it, when its items are booked hours later too.
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
