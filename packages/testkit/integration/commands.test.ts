// Commands of operators next to two running replicas, on both servers and Redis.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase, freshRedis } from "../src/databases.ts";
import { resolveGatewayProgram } from "../src/gateway.ts";
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

const OLD_KEY = "old:b2xkIGtleSBmb3IgdGVzdHMsIDMyIGJ5dGVzIGhlcmU=";
const NEW_KEY = "new:bmV3IGtleSBmb3IgdGVzdHMsIDMyIGJ5dGVzIGhlcmU=";
const UPSTREAM_KEY = "sk-of-the-upstream";
const PREFIX = "commands:";
const MODEL = "ordered";
const LIMIT = { timeout: 120_000 };

let upstream: Upstream;
beforeAll(async () => void (upstream = await startUpstream()));
afterAll(() => upstream?.stop());

describe.each(["mariadb", "postgres"] as const)("next to two replicas on %s and Redis", (kind) => {
  let database: string;
  let redis: Redis;
  let redisUrl: string;
  let folder: string;
  let key: string;
  let replicas: GatewayProcess[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "fairway-commands-"));
    database = await createDatabase(kind);
    redisUrl = (await freshRedis({ isDurable: true })).url;
    redis = new Redis(redisUrl);
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    redis.disconnect();
    await rm(folder, { recursive: true });
  });

  const start = (keys: string) =>
    startGateway({
      database,
      redis: redisUrl,
      env: { FAIRWAY_ENCRYPTION_KEY: keys, FAIRWAY_REDIS_PREFIX: PREFIX, FAIRWAY_MIGRATE: "verify" },
    });

  const run = (keys: string, ...args: string[]) =>
    new Promise<{ code: number | string | null | undefined; out: string }>((resolve) => {
      const env = {
        PATH: process.env["PATH"],
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
        FAIRWAY_DATA_DIR: folder,
        FAIRWAY_DATABASE_URL: database,
        FAIRWAY_REDIS_URL: redisUrl,
        FAIRWAY_REDIS_PREFIX: PREFIX,
        FAIRWAY_ENCRYPTION_KEY: keys,
        FAIRWAY_MIGRATE: "verify",
      };
      execFile(process.execPath, [resolveGatewayProgram(), ...args], { env }, (error, stdout, stderr) =>
        resolve({ code: error ? error.code : 0, out: stdout + stderr }),
      );
    });

  async function ask(replica: GatewayProcess | undefined): Promise<number> {
    const response = await fetch(`${replica?.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: MODEL, messages: [{ role: "user", content: "hi" }] }),
    });
    await response.text();
    return response.status;
  }
  const serveAll = async () => {
    for (let at = 0; at < 10; at += 1) expect(await ask(replicas[at % replicas.length])).toBe(200);
  };

  /** Waits until every charge of the replicas is in the database. */
  const audited = (...flags: string[]) =>
    expect.poll(async () => (await run(OLD_KEY, "ledger", "audit", ...flags)).out, { timeout: 20_000, interval: 200 });

  test("migrate makes the schema that programs only verify", LIMIT, async () => {
    expect((await run(OLD_KEY, "ledger", "audit")).out).toContain("FAIRWAY_MIGRATE=auto");
    expect(await run(OLD_KEY, "migrate")).toMatchObject({ code: 0 });
    expect(await run(OLD_KEY, "migrate")).toMatchObject({ code: 0 });
    replicas = [await start(OLD_KEY), await start(OLD_KEY)];
    const root = await signIn(replicas[0]?.url ?? "", "root", ROOT_PASSWORD);
    await setModelRatios(root, { [MODEL]: 1 });
    await createChannel(root, { base_url: upstream.url, models: MODEL, key: UPSTREAM_KEY });
    key = await createToken(root);
    await expect.poll(() => ask(replicas[1])).toBe(200);
    await serveAll();
  });

  test("ledger audit finds what was tampered with, and repairs it next to the replicas", LIMIT, async () => {
    await audited().toContain(": 0 differences.");
    const [row] = await runSql(database, "select id, quota from users where username = 'root'");
    const account = (await redis.keys(`${PREFIX}*}u${Number(row?.["id"])}`))[0] ?? "";
    await redis.hincrby(account, "b", 777);
    await redis.hincrby(account, "h", 55);
    const found = await run(OLD_KEY, "ledger", "audit");
    expect(found).toMatchObject({ code: 1 });
    expect(found.out).toContain("(+777)");
    expect(found.out).toContain("(+55)");
    await audited("--repair").toContain("live balances are read again");
    await serveAll();
    await audited().toContain(": 0 differences.");
    const [after] = await runSql(database, "select quota, used_quota from users where username = 'root'");
    const [booked] = await runSql(database, "select -sum(quota) as charged from ledger where kind = 'consume'");
    expect(Number(after?.["used_quota"])).toBe(Number(booked?.["charged"]));
  });

  test("reseal writes every secret with the new key, and replicas serve with it", LIMIT, async () => {
    await Promise.all(replicas.splice(0).map((replica) => replica.stop()));
    const keys = `${NEW_KEY},${OLD_KEY}`;
    const sealed = async () =>
      String((await runSql(database, "select * from channels")).map((row) => JSON.stringify(row)));
    const before = await sealed();
    const resealed = await run(keys, "reseal");
    expect(resealed.code).toBe(0);
    expect(Number(/(\d+) texts sealed/.exec(resealed.out)?.[1])).toBeGreaterThan(0);
    expect((await run(keys, "reseal")).out).toContain("0 texts sealed");
    expect(await sealed()).not.toBe(before);
    replicas = [await start(keys), await start(keys)];
    upstream.reset();
    await serveAll();
    expect(upstream.requests.map(({ headers }) => headers["authorization"])).toEqual(
      Array.from({ length: 10 }, () => `Bearer ${UPSTREAM_KEY}`),
    );
  });
});
