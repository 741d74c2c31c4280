// Cached prompts are listed, shown and deleted in the terminal.
import { channelCreate, optionUpdate, tokenCreate } from "@fairway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { UPSTREAM_KEY } from "@fairway/testkit";
import { parseJsonOutput, parseRows, startRig, type Rig } from "./rig.ts";

const MODEL = "gemini-3.5-flash";
let rig: Rig;
let id = "";

beforeAll(async () => {
  rig = await startRig();
  const { client, upstream, gateway } = rig;
  const { data: token } = await client.call(tokenCreate, { body: { name: "ci", unlimited_quota: true } });
  const channel = { name: "google", type: 24, key: UPSTREAM_KEY, models: MODEL, group: "default" };
  await client.call(channelCreate, { body: { ...channel, base_url: upstream.url } });
  const value = JSON.stringify({ [MODEL]: 1 });
  await client.call(optionUpdate, { body: { key: "CacheStoragePrices", value } });
  upstream.script("/cachedContents/up1", () => ({ body: {} }));
  upstream.script("/cachedContents", () => ({
    body: {
      name: "cachedContents/up1",
      createTime: "2026-11-28T10:00:00Z",
      expireTime: "2026-11-28T11:00:00Z",
      usageMetadata: { totalTokenCount: 100_000 },
    },
  }));
  const made = await fetch(`${gateway.url}/v1beta/cachedContents`, {
    method: "POST",
    headers: { "x-goog-api-key": `sk-${token.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: `models/${MODEL}`, contents: [{ role: "user", parts: [{ text: "hi" }] }] }),
  });
  expect(made.status, await made.clone().text()).toBe(200);
  id = ((await made.json()) as { name: string }).name.replace("cachedContents/", "");
}, 60_000);
afterAll(() => rig?.stop());

test("a cache is listed with its storage, shown and deleted", async () => {
  const listed = await rig.fairway("cache list --mine -o jsonl");
  expect(parseRows(listed), listed.err).toMatchObject([{ id, model: MODEL, tokens: 100_000, deposit: 50_000 }]);
  expect(parseRows(await rig.fairway("cache list --model other -o jsonl"))).toEqual([]);
  expect((await rig.fairway("cache list -o name")).out).toBe(`cache/${id}\n`);
  expect(parseJsonOutput(await rig.fairway(`cache get cache/${id} -o json`))).toMatchObject({ id, model: MODEL });
  expect((await rig.fairway(`cache get ${id}`)).out).toContain("$0.1000 reserved");
  expect((await rig.fairway(`cache delete ${id}`)).code).toBe(2);
  expect((await rig.fairway(`cache delete ${id} --yes`)).out).toBe(`ok    cache ${id}  deleted\n`);
  expect((await rig.fairway(`cache get ${id}`)).code).toBe(3);
  expect((await rig.fairway("cache list")).err).toContain("No caches.");
});
