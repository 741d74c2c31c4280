// An orderly stop while Redis is permanently unavailable: its time is bounded, and every charge is in the database.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase, freshRedis } from "../src/databases.ts";
import {
  createChannel,
  createToken,
  ROOT_PASSWORD,
  runSql,
  setModelRatios,
  signIn,
  startGateway,
  startUpstream,
  type GatewayProcess,
  type Upstream,
} from "../src/index.ts";
import { startProxy, type Proxy } from "../src/proxy.ts";

/** Ten seconds for Redis to come back, three for the rest, plus some for a busy machine. */
const LONGEST_STOP_MS = 20_000;
const STREAMS = 5;

let upstream: Upstream;
beforeAll(async () => void (upstream = await startUpstream()));
afterAll(() => upstream?.stop());

interface Setup {
  readonly database: string;
  readonly proxy: Proxy;
  readonly gateway: GatewayProcess;
  readonly key: string;
}

async function open(env: Readonly<Record<string, string>>): Promise<Setup> {
  const database = await createDatabase("mariadb");
  const proxy = await startProxy((await freshRedis({ isDurable: true })).port);
  const gateway = await startGateway({ database, redis: `redis://127.0.0.1:${proxy.port}`, env });
  const root = await signIn(gateway.url, "root", ROOT_PASSWORD);
  await setModelRatios(root, { plain: 1, "slow-200": 1 });
  await createChannel(root, { base_url: upstream.url, models: "plain,slow-200" });
  return { database, proxy, gateway, key: await createToken(root) };
}

async function ask({ gateway, key }: Setup, model: string): Promise<number> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, stream: model !== "plain", messages: [{ role: "user", content: "hi" }] }),
  });
  await response.text();
  return response.status;
}

async function stopped(gateway: GatewayProcess): Promise<number> {
  const started = performance.now();
  expect(await gateway.stop()).toBe(0);
  return performance.now() - started;
}

/** Returns the charges of the log and of the ledger, and what the only user's balance lost. */
async function books(database: string): Promise<readonly number[]> {
  const count = async (sql: string) => Number((await runSql(database, sql)).at(0)?.["n"]);
  const logged = await count("select coalesce(sum(quota), 0) as n from logs where type = 2");
  const booked = await count("select -coalesce(sum(quota), 0) as n from ledger where kind = 'consume'");
  const used = await count("select used_quota as n from users where username = 'root'");
  return [logged, booked, used];
}

const faults: Readonly<Record<string, (proxy: Proxy) => void>> = {
  gone(proxy) {
    proxy.isClosed = true;
    proxy.cut();
  },
  silent(proxy) {
    proxy.isStalled = true;
  },
};

describe.concurrent("a process that stops", () => {
  test.each(Object.keys(faults))("while Redis is %s charges what it served", { timeout: 90_000 }, async (fault) => {
    const setup = await open({ FAIRWAY_QUOTA_ON_OUTAGE: "sql" });
    for (let at = 0; at < 3; at += 1) expect(await ask(setup, "plain")).toBe(200);
    const streams = Array.from({ length: STREAMS }, () => ask(setup, "slow-200"));
    await sleep(400);
    faults[fault]?.(setup.proxy);
    expect(await ask(setup, "plain")).toBe(200);
    expect(await Promise.all(streams)).toEqual(Array.from({ length: STREAMS }, () => 200));
    expect(await stopped(setup.gateway)).toBeLessThan(LONGEST_STOP_MS);
    const [logged, booked, used] = await books(setup.database);
    expect(logged).toBeGreaterThan(0);
    expect([booked, used]).toEqual([logged, logged]);
    await setup.proxy.stop();
  });

  test("waits no longer than running streams may take", { timeout: 60_000 }, async () => {
    const setup = await open({ FAIRWAY_DRAIN_SECONDS: "2" });
    expect(await ask(setup, "plain")).toBe(200);
    faults["gone"]?.(setup.proxy);
    expect(await stopped(setup.gateway)).toBeLessThan(8_000);
    await setup.proxy.stop();
  });
});
