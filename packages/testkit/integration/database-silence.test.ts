// The database does not refuse but is silent: that is an outage too, and ends like one.
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
  type Upstream,
} from "../src/index.ts";
import { startProxy, type Proxy } from "../src/proxy.ts";

/** Five seconds until the next poll, five for its answer, plus some for a busy machine. */
const NOTICED_MS = 15_000;
/** How long the state of a key is cached. */
const KNOWN_MS = 60_000;
/** A minute after the database is back, five seconds until that is noticed, plus some for a busy machine. */
const GIVEN_UP_MS = 90_000;
/** Seven seconds for the last charges, five for each part that hangs, plus some for a busy machine. */
const LONGEST_STOP_MS = 30_000;
const TEST_MS = 150_000;

let upstream: Upstream;
beforeAll(async () => void (upstream = await startUpstream()));
afterAll(() => upstream?.stop());

interface Setup {
  readonly proxy: Proxy;
  readonly gateway: GatewayProcess;
  readonly ask: () => Promise<Response>;
}

async function open(kind: "mariadb" | "postgres", env: Readonly<Record<string, string>>): Promise<Setup> {
  const database = new URL(await createDatabase(kind));
  const proxy = await startProxy(Number(database.port));
  database.port = String(proxy.port);
  const redis = (await freshRedis({ isDurable: true })).url;
  const gateway = await startGateway({
    database: database.href,
    redis,
    env: { FAIRWAY_DRAIN_SECONDS: "2", ...env },
  });
  const root = await signIn(gateway.url, "root", ROOT_PASSWORD);
  await setModelRatios(root, { plain: 1 });
  await createChannel(root, { base_url: upstream.url, models: "plain" });
  const key = await createToken(root);
  const ask = async () => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "plain", messages: [{ role: "user", content: "hi" }] }),
    });
    await response.clone().text();
    return response;
  };
  await expect.poll(async () => (await ask()).status, { timeout: 10_000 }).toBe(200);
  return { proxy, gateway, ask };
}

const read = async ({ adminUrl }: GatewayProcess, path: string) => (await fetch(`${adminUrl}${path}`)).text();

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

async function stoppedInOrder(gateway: GatewayProcess): Promise<void> {
  expect(await timed(async () => expect(await gateway.stop()).toBe(0))).toBeLessThan(LONGEST_STOP_MS);
  expect(gateway.logs.map(({ message }) => message)).toContain("stopped");
}

describe.concurrent("a database that is silent", () => {
  test.each(["mariadb", "postgres"] as const)(
    "counts as away and as back, and holds up no stop: %s",
    { timeout: TEST_MS },
    async (kind) => {
      const { proxy, gateway, ask } = await open(kind, { FAIRWAY_DATABASE_ON_OUTAGE: "deny" });
      proxy.isSilent = true;
      await expect
        .poll(() => read(gateway, "/readyz?verbose"), { timeout: NOTICED_MS, interval: 100 })
        .toContain(
          "[!] keys and charges the database is away: new model calls are refused (FAIRWAY_DATABASE_ON_OUTAGE=deny)",
        );
      const refused = await ask();
      expect([refused.status, await refused.json()]).toMatchObject([503, { error: { code: "balances_unavailable" } }]);
      expect(await read(gateway, "/metrics")).toContain('fairway_degraded{part="keys and charges",mode="deny"} 1');
      await sleep(3_000);
      // Requests that were sent meanwhile are never answered; only new connections work.
      proxy.isSilent = false;
      await expect.poll(async () => (await ask()).status, { timeout: NOTICED_MS, interval: 100 }).toBe(200);
      expect(await read(gateway, "/readyz?verbose")).toContain("[+] keys and charges with the database");
      proxy.isSilent = true;
      await stoppedInOrder(gateway);
      await proxy.stop();
    },
  );

  test.for(["mariadb", "postgres"] as const)(
    "keeps no charge waiting on a connection to a host that vanished: %s",
    { timeout: TEST_MS },
    async (kind, { expect: expectHere }) => {
      const { proxy, gateway, ask } = await open(kind, {});
      const waiting = async () =>
        Number(/^fairway_ledger_backlog (\d+)$/m.exec(await read(gateway, "/metrics"))?.[1] ?? Number.NaN);
      await expectHere.poll(waiting, { timeout: 10_000 }).toBe(0);
      proxy.isSilent = true;
      expectHere((await ask()).status).toBe(200);
      await sleep(12_000);
      proxy.isSilent = false;
      await sleep(NOTICED_MS);
      expectHere(await waiting()).toBeGreaterThan(0);
      await expectHere.poll(waiting, { timeout: GIVEN_UP_MS, interval: 500 }).toBe(0);
      await gateway.kill();
      await proxy.stop();
    },
  );

  test("does not hold up keys that are known", { timeout: TEST_MS }, async () => {
    const { proxy, gateway, ask } = await open("mariadb", {});
    proxy.isSilent = true;
    await sleep(KNOWN_MS + 500);
    const statuses: number[] = [];
    const once = async () => void statuses.push((await ask()).status);
    const first = await timed(once);
    const second = await timed(once);
    expect(statuses).toEqual([200, 200]);
    expect(first).toBeLessThan(4_000);
    expect(second).toBeLessThan(1_000);
    expect(await read(gateway, "/readyz?verbose")).toContain(
      "[!] keys and charges the database is away: known keys are served for ten minutes",
    );
    await gateway.kill();
    await proxy.stop();
  });
});
