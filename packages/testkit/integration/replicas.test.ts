// Three replicas on MariaDB and Redis: limits, breakers, budgets, changes and the leader are shared.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase, freshRedis } from "../src/databases.ts";
import {
  createChannel,
  createToken,
  ROOT_PASSWORD,
  setModelRatios,
  signIn,
  startGateway,
  startUpstream,
  type GatewayProcess,
  type Service,
  type Session,
  type Upstream,
} from "../src/index.ts";

let redis: Service;
let upstream: Upstream;
let replicas: GatewayProcess[];
let root: Session;
let key: string;

beforeAll(async () => {
  upstream = await startUpstream();
  redis = await freshRedis({ isDurable: true });
  const database = await createDatabase("mariadb");
  const settings = {
    database,
    redis: redis.url,
    env: { FAIRWAY_QUOTA_ON_OUTAGE: "sql", FAIRWAY_REDIS_WAIT_MS: "500" },
  };
  const first = await startGateway(settings);
  replicas = [first, ...(await Promise.all([startGateway(settings), startGateway(settings)]))];
  root = await signIn(first.url, "root", ROOT_PASSWORD);
  await setModelRatios(root, { shared: 1, slow: 1, "status-500": 1, "slow-200": 1 });
  key = await createToken(root);
}, 120_000);
afterAll(async () => {
  expect(await Promise.all((replicas ?? []).map((replica) => replica.stop()))).toEqual([0, 0, 0]);
  await upstream?.stop();
}, 120_000);

const ask = (at: number, model: string, more: object = {}, by = key) =>
  fetch(`${replicas[at % 3]?.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${by}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "hi" }], ...more }),
  });
const readStatus = async (response: Response) => {
  await response.text();
  return response.status;
};
const option = async (name: string, value: unknown) => {
  await root.must("PUT", "/api/option/", {
    key: name,
    value: typeof value === "string" ? value : JSON.stringify(value),
  });
  await sleep(500);
};
const metric = async (at: number, name: string) => {
  const text = await (await fetch(`${replicas[at]?.adminUrl}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
};

async function untilRefused(token: string): Promise<number> {
  const start = performance.now();
  for (const at of [0, 1, 2]) {
    while ((await readStatus(await ask(at, "shared", {}, token))) !== 401) {
      if (performance.now() - start > 20_000) throw new Error("the key still works after 20 s");
      await sleep(20);
    }
  }
  return performance.now() - start;
}

async function disabledToken(): Promise<string> {
  const name = `token ${Math.random().toString(36).slice(2, 10)}`;
  const token = await createToken(root, { name });
  for (const at of [0, 1, 2]) expect(await readStatus(await ask(at, "shared", {}, token))).toBe(200);
  const list = await root.must<{ id: number; name: string }[]>("GET", "/api/token/?p=0&page_size=100");
  const id = list.find((one) => one.name === name)?.id;
  await root.must("PUT", "/api/token/?status_only=true", { id, status: 2 });
  return token;
}

describe("three replicas", () => {
  test("one leads", async () => {
    const leading = await Promise.all([0, 1, 2].map((at) => metric(at, "fairway_leader")));
    expect(leading.reduce((sum, one) => sum + one, 0)).toBe(1);
  });

  test("share limits: of 90 requests at once exactly 20 pass", async () => {
    await createChannel(root, { base_url: upstream.url, models: "shared" });
    await option("ModelLimits", { shared: { rpm: 20 } });
    const statuses = await Promise.all(
      Array.from({ length: 90 }, async (_, at) => readStatus(await ask(at, "shared"))),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(70);
    await option("ModelLimits", {});
  });

  test("share places: never more than three at once, and all are served", async () => {
    await createChannel(root, {
      base_url: upstream.url,
      models: "slow-200",
      setting: JSON.stringify({ limits: { concurrency: 3 } }),
    });
    await sleep(500);
    upstream.reset();
    const statuses = await Promise.all(
      Array.from({ length: 9 }, async (_, at) => readStatus(await ask(at, "slow-200", { stream: true }))),
    );
    expect(statuses).toEqual(Array.from({ length: 9 }, () => 200));
    expect(upstream.getMaxConcurrency("slow-200")).toBe(3);
  }, 60_000);

  test("share budgets: of 120 requests at once a budget of one call lets one through", async () => {
    await createChannel(root, { base_url: upstream.url, models: "slow", model_mapping: '{"slow":"slow-200"}' });
    const fields = { scope: "model", subject: "slow", period: "day" };
    const probe = await root.must<{ id: number }>("POST", "/api/budget/", {
      ...fields,
      quota_limit: 10 ** 12,
      is_hard: false,
    });
    await sleep(500);
    const running = ask(1, "slow", { stream: true });
    let held = 0;
    while (held === 0) held = (await root.must<{ held: number }>("GET", `/api/budget/${probe.id}`)).held;
    await readStatus(await running);
    await root.must("DELETE", `/api/budget/${probe.id}`);
    await root.must("POST", "/api/budget/", { ...fields, quota_limit: held });
    await sleep(500);
    const statuses = await Promise.all(
      Array.from({ length: 120 }, async (_, at) => readStatus(await ask(at, "slow", { stream: true }))),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 403)).toHaveLength(119);
  }, 60_000);

  test("share what they know of a failing channel", async () => {
    const id = await createChannel(root, { base_url: upstream.url, models: "status-500" });
    await sleep(500);
    for (let at = 0; at < 5; at += 1) expect(await readStatus(await ask(0, "status-500"))).toBe(500);
    await sleep(200);
    for (const { url } of replicas) {
      const session = await signIn(url, "root", ROOT_PASSWORD);
      const health = await session.must<{ channel_id: number; state: string }[]>("GET", "/api/channel/health");
      expect(health).toMatchObject([{ channel_id: id, state: "open" }]);
    }
  });

  test("a disabled token stops everywhere within a second", async () => {
    const ms = await untilRefused(await disabledToken());
    expect(ms).toBeLessThan(1_000);
  });

  test("without Redis requests are limited by each replica, and a disabled token stops within six seconds", async () => {
    await redis.stop();
    await option("ModelLimits", {});
    const ms = await untilRefused(await disabledToken());
    expect(ms).toBeLessThan(6_000);
    await option("DefaultUserLimits", { rpm: 5 });
    await sleep(5_500);
    const statuses = await Promise.all(
      Array.from({ length: 60 }, async (_, at) => readStatus(await ask(at, "shared"))),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(15);
    expect(await metric(0, 'fairway_limit_outages_total{rule="relay"}'.replaceAll(/[{}]/g, "\\$&"))).toBeGreaterThan(0);
    const ready = await (await fetch(`${replicas[0]?.adminUrl}/readyz?verbose`)).text();
    expect(ready).toContain("[!] reservations Redis is away: new requests are reserved in the database");
    expect(ready).toContain("[!] limits of model calls Redis is away: each process counts alone");
    expect(ready).toMatch(/readyz passed\n$/);
    expect(await metric(0, 'fairway_degraded{part="reservations",mode="sql"}'.replaceAll(/[{}]/g, "\\$&"))).toBe(1);
  }, 60_000);
});
