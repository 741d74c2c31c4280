// What a client waits for: one Redis round trip before the upstream call, and none after it has answered.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
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

/** After this time, charges of the previous request have left Redis. */
const QUIET_MS = 350;
const TRIES = 7;
const SLOW_MS = 2_000;
/** The allowed delay, and what a busy machine adds by itself. */
const ADDED_MS = 50 + 60;

let upstream: Upstream;
let proxy: Proxy;
let gateway: GatewayProcess;
let root: Session;
let key: string;

beforeAll(async () => {
  upstream = await startUpstream();
  proxy = await startProxy((await freshRedis({ isDurable: true })).port);
  gateway = await startGateway({
    database: await createDatabase("mariadb"),
    redis: `redis://127.0.0.1:${proxy.port}`,
    env: { FAIRWAY_QUOTA_ON_OUTAGE: "sql" },
  });
  root = await signIn(gateway.url, "root", ROOT_PASSWORD);
  await setModelRatios(root, { plain: 1, "slow-50": 1, "status-400": 1 });
  key = await createToken(root);
  const limits = { rpm: 10_000, tpm: 10_000_000, concurrency: 100 };
  const setting = JSON.stringify({ limits, key_limits: limits });
  await createChannel(root, { base_url: upstream.url, models: "plain,slow-50,status-400", setting });
  for (let warm = 0; warm < 5; warm += 1) await ask("plain");
}, 120_000);
beforeEach(() => sleep(QUIET_MS));
afterAll(async () => {
  Object.assign(proxy, { delayMs: 0, isStalled: false });
  await gateway?.stop();
  await proxy?.stop();
  await upstream?.stop();
}, 60_000);

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly ms: number;
}

async function ask(model: string, more: object = {}): Promise<Answer> {
  const started = performance.now();
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({
      model,
      stream: model === "slow-50",
      user: "one",
      messages: [{ role: "user", content: "hi" }],
      ...more,
    }),
    signal: AbortSignal.timeout(30_000),
  });
  return { status: response.status, text: await response.text(), ms: performance.now() - started };
}

/**
 * Counts round trips to Redis until the upstream is called, as the median of some tries, because other parts talk to
 * Redis too.
 */
async function roundTrips(): Promise<number> {
  let atCall = 0;
  upstream.script("/chat/completions", () => {
    atCall = proxy.exchanges;
    return { body: { id: "1", object: "chat.completion", model: "plain", choices: [], usage: { total_tokens: 2 } } };
  });
  const counts: number[] = [];
  for (let tried = 0; tried < TRIES; tried += 1) {
    await sleep(QUIET_MS);
    const before = proxy.exchanges;
    expect(await ask("plain")).toMatchObject({ status: 200 });
    counts.push(atCall - before);
  }
  upstream.reset();
  return counts.sort((a, b) => a - b)[Math.floor(TRIES / 2)] ?? 0;
}

/** Sends a request, and blocks Redis from the moment at which the upstream is called. */
async function askWithoutRedisAfterwards(model: string): Promise<Answer> {
  upstream.reset();
  const answer = ask(model);
  while (upstream.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  proxy.isStalled = true;
  try {
    return await answer;
  } finally {
    proxy.isStalled = false;
  }
}

test("a call waits for one round trip to Redis", async () => {
  expect(await roundTrips()).toBe(1);
});

test("limits of all scopes, breakers and affinity add none", async () => {
  const limits = { rpm: 10_000, tpm: 10_000_000, concurrency: 100 };
  for (const [name, value] of Object.entries({
    DefaultTokenLimits: limits,
    DefaultUserLimits: limits,
    GroupLimits: { default: limits },
    ModelLimits: { plain: limits, "slow-50": limits, "status-400": limits },
    ModelRequestRateLimitCount: 10_000,
    ModelRequestRateLimitSuccessCount: 10_000,
    ModelRequestRateLimitEnabled: true,
  }))
    await root.must("PUT", "/api/option/", { key: name, value: JSON.stringify(value) });
  await sleep(500);
  expect(await roundTrips()).toBe(1);
});

test("hard budgets of three scopes add none", async () => {
  const subjects = { user: "1", group: "default", model: "plain" };
  for (const [scope, subject] of Object.entries(subjects))
    await root.must("POST", "/api/budget/", { scope, subject, period: "month", quota_limit: 10 ** 12 });
  for (let warm = 0; warm < 2; warm += 1) await ask("plain");
  expect(await roundTrips()).toBe(1);
  const spent = async () => {
    const all = await root.must<readonly { readonly used: number; readonly held: number }[]>("GET", "/api/budget/");
    return all.map(({ used, held }) => used > 0 && held === 0);
  };
  await expect.poll(spent, { timeout: 5_000 }).toEqual([true, true, true]);
});

test.each([
  ["plain", 200],
  ["slow-50", 200],
  ["status-400", 400],
])("no one waits for Redis after the upstream was called: %s", async (model, status) => {
  const answer = await askWithoutRedisAfterwards(model);
  expect(answer.status).toBe(status);
  expect(answer.ms).toBeLessThan(1_900);
  if (model === "slow-50") expect(answer.text).toContain("[DONE]");
});

test.each([
  ["", { ResponseCacheEnabled: false }],
  [", though answers are stored there as well", { ResponseCacheEnabled: true, ResponseCacheModels: [] }],
])("a Redis that takes two seconds adds no more than fifty milliseconds%s", async (_how, options) => {
  for (const [name, value] of Object.entries(options))
    await root.must("PUT", "/api/option/", { key: name, value: JSON.stringify(value) });
  await sleep(SLOW_MS);
  let seed = 0;
  const askAgain = () => ask("plain", { temperature: 0, seed: (seed += 1) });
  const usual = (await Promise.all(Array.from({ length: 5 }, askAgain))).map(({ ms }) => ms).sort((a, b) => a - b);
  const added: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    proxy.delayMs = SLOW_MS / 2;
    await sleep(20);
    const first = await askAgain();
    const others = await Promise.all(Array.from({ length: 4 }, askAgain));
    expect([first, ...others].map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    added.push(Math.max(first.ms, ...others.map(({ ms }) => ms)) - (usual.at(-1) ?? 0));
    proxy.delayMs = 0;
    await sleep(SLOW_MS + 500);
  }
  expect(Math.min(...added)).toBeLessThan(ADDED_MS);
});

test("a Redis in another zone counts for all when calls wait for it, and a start without that says so", async () => {
  proxy.delayMs = 40;
  const settings = { database: await createDatabase("mariadb"), redis: `redis://127.0.0.1:${proxy.port}` };
  const env = { FAIRWAY_REDIS_PREFIX: "zone:", FAIRWAY_QUOTA_ON_OUTAGE: "sql" };
  const hasty = await startGateway({ ...settings, env });
  const isReported = ({ message }: { readonly message?: unknown }) => String(message).includes("FAIRWAY_REDIS_WAIT_MS");
  expect(hasty.logs.filter(isReported)).toMatchObject([{ level: "warn", wait_ms: 50 }]);
  await hasty.stop();
  const waitingGateway = await startGateway({ ...settings, env: { ...env, FAIRWAY_REDIS_WAIT_MS: "2000" } });
  expect(waitingGateway.logs.filter(isReported)).toEqual([]);
  const session = await signIn(waitingGateway.url, "root", ROOT_PASSWORD);
  await setModelRatios(session, { plain: 1 });
  await createChannel(session, { base_url: upstream.url, models: "plain" });
  await session.must("PUT", "/api/option/", { key: "DefaultUserLimits", value: '{"rpm":2}' });
  const token = await createToken(session);
  const statuses: number[] = [];
  for (let at = 0; at < 3; at += 1) {
    const response = await fetch(`${waitingGateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "plain", messages: [{ role: "user", content: "hi" }] }),
    });
    await response.text();
    statuses.push(response.status);
  }
  expect(statuses).toEqual([200, 200, 429]);
  const metrics = await (await fetch(`${waitingGateway.adminUrl}/metrics`)).text();
  expect(metrics).not.toMatch(/^fairway_limit_outages_total\{rule="relay"\} [1-9]/m);
  expect(metrics).not.toMatch(/^fairway_ledger_outage_requests_total\{.*\} [1-9]/m);
  await waitingGateway.stop();
  proxy.delayMs = 0;
});
