// One command, several processes on one port: load, metrics, a killed worker, a restart and the stop.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
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
  type Session,
  type Upstream,
} from "../src/index.ts";

const WORKERS = 3;
/** Quota units of one answer. */
const CHARGE = 30;
const WAIT = { timeout: 30_000, interval: 100 };

/** A stream of 100 seconds. */
const LONG = "slow-50+long-2000";
/** After a lease renewal, so that some usage was recorded. */
const RENEWED_MS = 15_000;
/** Leases last 60 s; the sweeper runs after that. */
const EXPIRED = { timeout: 120_000, interval: 500 };

let upstream: Upstream;
let database: string;
let start: () => Promise<GatewayProcess>;
let gateway: GatewayProcess;
let root: Session;
let key: string;

beforeAll(async () => {
  upstream = await startUpstream();
  const redis = await freshRedis({ isDurable: true });
  database = await createDatabase("mariadb");
  const env = { FAIRWAY_WORKERS: String(WORKERS), FAIRWAY_DRAIN_IDLE_SECONDS: "1" };
  start = () => startGateway({ database, redis: redis.url, env });
  gateway = await start();
  root = await signIn(gateway.url, "root", ROOT_PASSWORD);
  await setModelRatios(root, { shared: 1, "slow-2000": 1, [LONG]: 1 });
  await createChannel(root, { models: `shared,slow-2000,${LONG}`, base_url: upstream.url });
  key = await createToken(root);
}, 120_000);
afterAll(() => upstream?.stop());

const ask = (model: string, more: object = {}) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    // Each request uses a new connection, so that all workers get some.
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", connection: "close" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "hi" }], ...more }),
  });
const admin = async (path: string) => {
  const response = await fetch(`${gateway.adminUrl}${path}`);
  return { status: response.status, text: await response.text() };
};
const metric = async (pattern: string) => {
  const { text } = await admin("/metrics");
  return [...text.matchAll(new RegExp(`^${pattern} (\\S+)$`, "gm"))].reduce((sum, [, value]) => sum + Number(value), 0);
};
const served = () => metric("fairway_relay_requests_total\\{[^}]*\\}");
const workerIds = async () => {
  const { text } = await admin("/readyz?verbose");
  return [...text.matchAll(/^worker \d+, process (\d+)$/gm)].map(([, pid]) => Number(pid));
};
const charged = async () => (await root.must<{ used_quota: number }>("GET", "/api/user/self")).used_quota;

async function askMany(count: number): Promise<void> {
  const answers = await Promise.all(Array.from({ length: count }, () => ask("shared")));
  for (const answer of answers) expect(answer.status, await answer.text()).toBe(200);
}

test("the workers share one port, and one listener answers for all of them", async () => {
  expect(await workerIds()).toHaveLength(WORKERS);
  expect(await admin("/startupz")).toEqual({ status: 200, text: "ok\n" });
  expect(await metric("fairway_workers")).toBe(WORKERS);
  await askMany(30);
  await vi.waitFor(async () => expect(await served()).toBe(30), WAIT);
  await vi.waitFor(async () => expect(await metric("fairway_leader")).toBe(1), WAIT);
});

test("a killed worker is replaced; its counts and its charges stay", async () => {
  const before = await workerIds();
  await vi.waitFor(async () => expect(await charged()).toBe(30 * CHARGE), WAIT);
  process.kill(before[0] as number, "SIGKILL");
  const died = await gateway.logged("a worker died and is replaced");
  expect(died).toMatchObject({ level: "error", signal: "SIGKILL" });
  await vi.waitFor(async () => {
    const now = await workerIds();
    expect(now).toHaveLength(WORKERS);
    expect(now).not.toContain(before[0]);
  }, WAIT);
  await askMany(30);
  await vi.waitFor(async () => expect(await served()).toBe(60), WAIT);
  await vi.waitFor(async () => expect(await charged()).toBe(60 * CHARGE), WAIT);
});

test("a worker that is asked to end finishes its request and is replaced", async () => {
  const [pid] = await workerIds();
  const slow = Array.from({ length: 6 }, () => ask("slow-2000"));
  await vi.waitFor(async () => expect(await metric("fairway_inflight_requests")).toBe(6), WAIT);
  process.kill(pid as number, "SIGTERM");
  for (const answer of await Promise.all(slow)) expect(answer.status, await answer.text()).toBe(200);
  await gateway.logged("a worker ended and is replaced");
});

test("a hangup replaces all workers one after the other, and no request fails", { timeout: 120_000 }, async () => {
  await vi.waitFor(async () => expect(await workerIds()).toHaveLength(WORKERS), WAIT);
  const before = await workerIds();
  process.kill(gateway.pid, "SIGHUP");
  let isOver = false;
  const over = gateway.logged("all workers were replaced", 100_000).finally(() => (isOver = true));
  while (!isOver) await askMany(3);
  await over;
  const now = await workerIds();
  expect(now).toHaveLength(WORKERS);
  expect(now.filter((pid) => before.includes(pid))).toEqual([]);
});

test("a stop drains all workers", async () => {
  const slow = Array.from({ length: 6 }, () => ask("slow-2000"));
  await vi.waitFor(async () => expect(await metric("fairway_inflight_requests")).toBe(6), WAIT);
  const stopped = gateway.stop();
  for (const answer of await Promise.all(slow)) expect(answer.status, await answer.text()).toBe(200);
  expect(await stopped).toBe(0);
});

test(
  "a worker that dies while it drains is named, and its requests are charged once",
  { timeout: 240_000 },
  async () => {
    gateway = await start();
    const number = async (sql: string) => Number((await runSql(database, sql))[0]?.["n"]);
    const charges = () => number("select count(*) as n from ledger where kind = 'consume'");
    const before = await charges();
    const streams = Array.from({ length: 6 }, () => ask(LONG, { stream: true }).then((answer) => answer.text()));
    const ends = Promise.allSettled(streams);
    await vi.waitFor(async () => expect(await metric("fairway_inflight_requests")).toBe(6), WAIT);
    await sleep(RENEWED_MS);
    const [pid = 0] = await workerIds();
    const stopped = gateway.stop();
    const draining = () => gateway.logs.filter(({ message }) => message === "stopping");
    await vi.waitFor(() => expect(draining()).toHaveLength(1 + WORKERS), WAIT);
    process.kill(pid, "SIGKILL");
    expect(await gateway.logged("a worker died while it drained")).toMatchObject({
      level: "error",
      pid,
      signal: "SIGKILL",
    });
    // The second signal ends the streams of the others.
    void gateway.stop();
    expect(await stopped).toBe(1);
    await ends;

    gateway = await start();
    await vi.waitFor(async () => expect(await charges()).toBe(before + 6), EXPIRED);
    expect(await gateway.stop()).toBe(0);
    const sql = "select request_id from ledger where kind = 'consume' group by request_id having count(*) > 1";
    expect(await runSql(database, sql)).toEqual([]);
    const booked = await number("select sum(quota) as n from ledger where kind <> 'gift'");
    expect(await number("select sum(used_quota) as n from tokens")).toBe(-booked);
  },
);

test("workers without a shared database and Redis are refused in words", async () => {
  await expect(startGateway({ env: { FAIRWAY_WORKERS: "2" } })).rejects.toThrow(
    /FAIRWAY_WORKERS is 2.*set FAIRWAY_DATABASE_URL of MariaDB or PostgreSQL and FAIRWAY_REDIS_URL, or FAIRWAY_WORKERS=1/,
  );
});

test("a first worker that cannot start ends the command with its reason", async () => {
  const env = { FAIRWAY_WORKERS: "2", FAIRWAY_DATABASE_URL: "mysql://root:x@127.0.0.1:1/none" };
  await expect(startGateway({ redis: "redis://127.0.0.1:1", env })).rejects.toThrow(/127\.0\.0\.1|ECONNREFUSED/);
});
