import { createToken, signIn } from "@fairway/testkit";
import { createDatabase, freshRedis } from "@fairway/testkit/databases";
import type { Service } from "@fairway/testkit/services";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Secret } from "../../../src/lib/secret.ts";
import { createRedisClient } from "../../../src/redis/client.ts";
import { createKeys } from "../../../src/redis/keys.ts";
import { chat, consumeRows, startRelayApp, type RelayApp } from "../../kit/relay-app.ts";
import { quietLog } from "../../kit/support.ts";

const replicas: RelayApp[] = [];
let redis: Service;
let mine = "";
let theirs = "";

beforeAll(async () => {
  redis = await freshRedis();
  const url = await createDatabase("postgres");
  for (const name of ["one", "two"]) {
    const cluster = { FAIRWAY_REDIS_URL: redis.url, FAIRWAY_QUOTA_ON_OUTAGE: "sql", FAIRWAY_INSTANCE_ID: name };
    replicas.push(await startRelayApp({ FAIRWAY_DATABASE_URL: url, ...cluster }));
  }
  const [one] = replicas as [RelayApp];
  await one.channel("cached", { group: "default,vip" });
  mine = await one.token();
  theirs = await tenantKey(one);
  await one.option("ResponseCacheEnabled", true);
  while ((await state(1, mine, { temperature: 0, seed: Math.random() })) !== "miss") await pause(50);
}, 60_000);
afterAll(async () => {
  for (const replica of replicas) await replica.close();
});

async function tenantKey({ root, url }: RelayApp): Promise<string> {
  const account = { username: "tenant", password: "a good password" };
  await root.must("POST", "/api/user/", { ...account, display_name: "Tenant" });
  const [found] = await root.must<{ id: number }[]>("GET", "/api/user/search?keyword=tenant");
  await root.must("PUT", "/api/user/", { id: found?.id, username: "tenant", quota: 1_000_000, group: "default" });
  return createToken(await signIn(url, account.username, account.password));
}

async function state(replica: number, key: string, more: object = { temperature: 0 }): Promise<string | null> {
  const app = replicas[replica] as RelayApp;
  const response = await app.post("/v1/chat/completions", chat("cached", more), key);
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("upstream") as string]);
  return response.headers.get("x-fairway-cache");
}

it("tokens of a user and replicas share answers; users and groups do not", async () => {
  const [one] = replicas as [RelayApp];
  expect(await state(0, mine)).toBe("miss");
  await expect.poll(() => state(1, mine)).toBe("hit");
  expect(await state(0, theirs)).toBe("miss");
  await expect.poll(() => state(1, theirs)).toBe("hit");
  expect(await state(0, await one.token({ group: "vip" }))).toBe("miss");
  expect(await state(0, await one.token())).toBe("hit");
  expect(await state(0, mine, { temperature: 0, stream: true })).toBe("miss");
  await expect.poll(() => state(1, mine, { temperature: 0, stream: true })).toBe("hit");
});

it("a cached answer changes no balance, counter or ledger row", async () => {
  const [one] = replicas as [RelayApp];
  const ids: string[] = [];
  for (let turn = 0; turn < 3; turn++) {
    const response = await one.post("/v1/chat/completions", chat("cached", { temperature: 0 }), mine);
    expect(response.headers.get("x-fairway-cache")).toBe("hit");
    ids.push(response.headers.get("x-request-id") ?? "");
  }
  for (const id of ids) {
    await expect.poll(() => consumeRows(one, id), { timeout: 5_000 }).toHaveLength(1);
    expect((await consumeRows(one, id))[0]).toMatchObject({ quota: 0, other: { cache_hit: true } });
  }
  const sum = "select count(*) as n, sum(quota) as quota from ledger where request_id in (?, ?, ?)";
  const [booked] = await one.database.raw.rows<{ n: number; quota: number }>(sum, ids);
  expect([Number(booked?.n), Number(booked?.quota)]).toEqual([3, 0]);
});

it("entries in Redis do not reveal requests or answers", async () => {
  const client = createRedisClient({ url: new Secret(redis.url), keys: createKeys(""), log: quietLog, name: "look" });
  await client.ready(30_000);
  const [hash = ""] = (await client.sendOne({ command: "KEYS", args: ["*{cache}entries"] }, 1000)) as string[];
  const all = (await client.sendOne({ command: "HGETALL", args: [hash] }, 1000)) as string[];
  await client.close();
  expect(all.length).toBeGreaterThan(7);
  for (const text of ["upstream", "chat.completion", "cached", "hi"]) expect(all.join("\n")).not.toContain(`"${text}`);
  expect(all.filter((_, at) => at % 2 === 0).every((name) => /^[0-9a-f]{64}$/.test(name))).toBe(true);
  expect(all.filter((_, at) => at % 2 === 1).every((sealed) => sealed.startsWith("v2:"))).toBe(true);
});

it("while Redis is away each request is a miss, never an error", async () => {
  await redis.stop();
  expect([await state(0, mine), await state(1, mine)]).toEqual(["miss", "miss"]);
  const [one] = replicas as [RelayApp];
  const metrics = await (await fetch(`${one.adminUrl}/metrics`)).text();
  expect(metrics).toMatch(/^fairway_cache_failures_total\{cache="responses"\} \d+$/m);
  expect(one.logLines()).toContain("cached answers are out of reach");
});
