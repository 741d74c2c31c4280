// What a client waits for: Redis once before the upstream is called, and not at all after it has answered.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
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
  type Session,
  type Upstream,
} from "../src/index.ts";
import { startProxy, type Proxy } from "../src/proxy.ts";

const DELAY_MS = 150;
const ROUND_TRIP_MS = 2 * DELAY_MS;

let upstream: Upstream;
let proxy: Proxy;
let gateway: GatewayProcess;
let root: Session;
let key: string;

beforeAll(async () => {
  upstream = await startUpstream();
  proxy = await startProxy((await freshRedis({ isDurable: true })).port);
  gateway = await startGateway({ database: await createDatabase("mariadb"), redis: `redis://127.0.0.1:${proxy.port}` });
  root = await signIn(gateway.url, "root", ROOT_PASSWORD);
  await setModelRatios(root, { plain: 1 });
  key = await createToken(root);
  await createChannel(root, { base_url: upstream.url, models: "plain" });
  for (let warm = 0; warm < 5; warm += 1) await ask();
}, 120_000);
afterAll(async () => {
  proxy.delayMs = 0;
  await gateway?.stop();
  await proxy?.stop();
  await upstream?.stop();
}, 60_000);

async function ask(): Promise<number> {
  const started = performance.now();
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "plain", messages: [{ role: "user", content: "hi" }] }),
  });
  const text = await response.text();
  expect(`${response.status} ${text}`).toMatch(/^200 /);
  return performance.now() - started;
}

/** The fastest of some, in round trips: other work of the machine only makes it slower. */
async function roundTrips(): Promise<number> {
  proxy.delayMs = 0;
  await sleep(700);
  const local = Math.min(await ask(), await ask(), await ask());
  proxy.delayMs = DELAY_MS;
  await sleep(100);
  const remote = Math.min(await ask(), await ask(), await ask());
  proxy.delayMs = 0;
  return (remote - local) / ROUND_TRIP_MS;
}

test("a call waits for one round trip to Redis", async () => {
  expect(await roundTrips()).toBeCloseTo(1, 0);
});

test("limits of many scopes are taken in the same one", async () => {
  const limits = { rpm: 1_000, tpm: 1_000_000, concurrency: 100 };
  for (const [name, value] of Object.entries({
    DefaultTokenLimits: limits,
    DefaultUserLimits: limits,
    GroupLimits: { default: limits },
    ModelLimits: { plain: limits },
  })) {
    await root.must("PUT", "/api/option/", { key: name, value: JSON.stringify(value) });
  }
  await sleep(500);
  expect(await roundTrips()).toBeCloseTo(1, 0);
});
