// Gateways whose log is in ClickHouse, which is killed under load as they are: afterwards it has one row for each charge
// of the ledger, and no call waited for it.
import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase, freshRedis } from "../src/databases.ts";
import {
  createChannel,
  createToken,
  runSql,
  setModelRatios,
  signIn,
  startGateway,
  startUpstream,
  type GatewayProcess,
  type Upstream,
} from "../src/index.ts";
import { ENCRYPTION_KEY, resolveGatewayProgram } from "../src/gateway.ts";
import { startClickhouse, type Service } from "../src/services.ts";

const MODEL = "plain";
const CALLERS = 4;
/** Calls of the load take some milliseconds. */
const SLOW_MS = 5_000;
const SOON = { timeout: 90_000, interval: 500 };

interface Setup {
  readonly database: string;
  readonly redis?: string;
  readonly replicas: number;
}

const SETUPS: Readonly<Record<string, () => Promise<Setup>>> = {
  SQLite: async () => ({ database: await createDatabase("sqlite"), replicas: 1 }),
  PostgreSQL: async () => ({ database: await createDatabase("postgres"), replicas: 2 }),
  "MariaDB and Redis": async () => {
    const redis = await freshRedis({ isDurable: true });
    return { database: await createDatabase("mariadb"), redis: redis.url, replicas: 2 };
  },
};

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream?.stop());

async function query<Row>(server: Service, sql: string): Promise<Row[]> {
  const answer = await fetch(`http://127.0.0.1:${server.port}/?output_format_json_quote_64bit_integers=0`, {
    method: "POST",
    body: `${sql} format JSONEachRow`,
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Row);
}

describe.each(Object.keys(SETUPS))("a log in ClickHouse next to %s", (name) => {
  let server: Service;
  let setup: Setup;
  const gateways: GatewayProcess[] = [];
  let key = "";
  const start = async () => {
    const env = { FAIRWAY_LOG_DATABASE_URL: server.url };
    const gateway = await startGateway({ ...setup, env });
    gateways.push(gateway);
    return gateway;
  };

  beforeAll(async () => {
    [server, setup] = await Promise.all([startClickhouse(), SETUPS[name]?.() ?? expect.unreachable(name)]);
    const first = await start();
    const root = await signIn(first.url);
    await setModelRatios(root, { [MODEL]: 1 });
    await createChannel(root, { base_url: upstream.url, models: MODEL });
    key = await createToken(root);
    for (let more = 1; more < setup.replicas; more++) await start();
  }, 180_000);
  afterAll(async () => {
    await Promise.all(gateways.map((gateway) => gateway.kill()));
    await server?.stop();
  });

  const waiting = async () => Number((await runSql(setup.database, "select count(*) as n from log_outbox"))[0]?.["n"]);

  test("has each row once after kills of ClickHouse and of the gateways, and delays no call", async () => {
    const stop = new AbortController();
    let slowest = 0;
    let answered = 0;
    let whileAway = 0;
    let isAway = false;
    const call = async (at: number) => {
      const gateway = gateways[at % gateways.length] as GatewayProcess;
      const startedAt = performance.now();
      // Every seventh call fails, and has a row of its own.
      const model = answered % 7 === 6 ? "unknown" : MODEL;
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello." }] }),
      });
      await answer.text();
      slowest = Math.max(slowest, performance.now() - startedAt);
      answered += 1;
      if (isAway) whileAway += 1;
    };
    const callers = Array.from({ length: CALLERS }, async (_, at) => {
      while (!stop.signal.aborted) await call(at).catch(() => sleep(100));
    });
    const replace = async () => {
      const gone = gateways.shift();
      await gone?.kill();
      await start();
    };

    await sleep(3_000);
    await server.kill();
    isAway = true;
    await sleep(2_000);
    // A gateway starts without ClickHouse too.
    await replace();
    await sleep(2_000);
    isAway = false;
    await server.restart();
    for (let round = 0; round < 3; round++) {
      await sleep(1_500);
      await replace();
      await sleep(700);
      await server.kill();
      await sleep(500);
      await server.restart();
    }
    await sleep(2_000);
    stop.abort();
    await Promise.all(callers);

    expect(whileAway).toBeGreaterThan(10);
    expect(slowest).toBeLessThan(SLOW_MS);
    await expect.poll(waiting, SOON).toBe(0);
    const charges = await runSql(
      setup.database,
      "select request_id, quota from ledger where kind = 'consume' and quota <> 0 order by request_id",
    );
    const rows = await query<{ request_id: string; quota: number }>(
      server,
      "select request_id, quota from logs where type = 2 order by request_id",
    );
    expect(rows.length).toBeGreaterThan(50);
    expect(rows).toEqual(charges.map(({ request_id, quota }) => ({ request_id, quota: 0 - Number(quota) })));
    const [all] = await query<{ n: number; ids: number; failed: number }>(
      server,
      "select count() as n, uniqExact(id) as ids, countIf(type = 5) as failed from logs",
    );
    expect(all?.ids).toBe(all?.n);
    expect(all?.failed).toBeGreaterThan(5);
  }, 240_000);

  test("is listed, counted and explained like any other", async () => {
    const gateway = gateways[0] as GatewayProcess;
    const root = await signIn(gateway.url);
    const page = await root.must("GET", "/api/log/?type=2&page_size=5");
    const items = (page as { items: { id: number; model_name: string }[]; total: number }).items;
    expect(items).toHaveLength(5);
    expect(items[0]?.model_name).toBe(MODEL);
    const facets = (await root.must("GET", "/api/log/facets")) as { models: { value: string; count: number }[] };
    expect(facets.models.find(({ value }) => value === MODEL)?.count).toBeGreaterThan(50);
    await root.must("GET", `/api/log/${items[0]?.id}/explain`);
    expect(await runAudit(setup, server)).toContain(": 0 differences");
  }, 60_000);
});

/** Returns the last line of `ledger audit`, which compares the ledger with the log. */
function runAudit({ database, redis }: Setup, server: Service): Promise<string> {
  const env = {
    ...process.env,
    FAIRWAY_DATABASE_URL: database,
    FAIRWAY_LOG_DATABASE_URL: server.url,
    FAIRWAY_ENCRYPTION_KEY: ENCRYPTION_KEY,
    ...(redis !== undefined && { FAIRWAY_REDIS_URL: redis }),
  };
  return new Promise((resolve) => {
    execFile(process.execPath, [resolveGatewayProgram(), "ledger", "audit"], { env }, (_error, out, err) =>
      resolve(out.trim().split("\n").at(-1) ?? err),
    );
  });
}
