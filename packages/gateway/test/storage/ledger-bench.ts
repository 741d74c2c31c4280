import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProxy } from "@fairway/testkit/proxy";
import { startMariadb, startRedis, type Service } from "@fairway/testkit/services";
import { runSql } from "@fairway/testkit/sql";
import { checkLedgerSums } from "../../src/billing/audit/sums.ts";
import { createRedisLedger, type RedisLedger } from "../../src/billing/ledger/redis/redis-ledger.ts";
import { isRefusal, type Hold, type LogDetail, type Settlement } from "../../src/billing/ledger/ledger.ts";
import { readLedgerState } from "../../src/billing/ledger/redis/recovery/epoch-store.ts";
import { quota } from "../../src/billing/money/quota.ts";
import { createIds } from "../../src/lib/ids.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { Secret } from "../../src/lib/secret.ts";
import { createLog } from "../../src/observability/log.ts";
import { createMemoryClaims } from "../../src/limits/claims-memory.ts";
import { createRedisClaims } from "../../src/limits/claims-redis.ts";
import type { Claim } from "../../src/limits/claims.ts";
import { createRedisClient, type RedisClient } from "../../src/redis/client.ts";
import { createKeys } from "../../src/redis/keys.ts";
import { openDatabase, type Database } from "../../src/storage/database.ts";
import { migrate } from "../../src/storage/schema/migrate.ts";
import type { RawDatabase } from "../../src/storage/engines/raw.ts";

export interface LedgerLoad {
  readonly accounts: number;
  readonly requests: number;
  /** Requests under way at once. */
  readonly parallel: number;
  /** The database takes nothing until all requests are settled; then it is measured how fast it catches up. */
  readonly isHeldBack: boolean;
}

export interface LedgerFigures {
  readonly load: LedgerLoad;
  /** Reserved and settled a second. */
  readonly perSecond: number;
  /** From the last settlement until everything stood in the database. */
  readonly behindSeconds: number;
  /** Waits for a reservation, milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Microseconds of a core for each request, to the last booking. */
  readonly cpu: { readonly process: number; readonly redis: number; readonly mariadb: number };
  /** The same of Redis, until the last settlement. */
  readonly redisLive: number;
}

/** How long the reservation and the limits of requests took, one request after the other; milliseconds. */
export interface Waits {
  readonly p50: number;
  readonly p99: number;
}

export interface SlowRedisFigures {
  readonly usual: Waits;
  readonly slow: Waits;
}

const RICH = 1_000_000_000_000;
/** For a machine that is busy with other things. */
const LONGEST_FLUSH_MS = 600_000;
const SLOW_REDIS_MS = 2_000;
const LOG: LogDetail = {
  username: "user",
  tokenName: "key",
  modelName: "gpt-4o",
  channelId: 1,
  group: "default",
  promptTokens: 10,
  completionTokens: 5,
  useTimeSeconds: 1,
  isStream: false,
  content: "",
  other: '{"model_ratio":1.25,"group_ratio":1,"completion_ratio":4,"frt":120,"admin_info":{"use_channel":["1"]}}',
  ip: "10.0.0.1",
};

interface Servers {
  readonly redis: Service;
  readonly mariadb: Service;
}

/** Servers of its own, on which loads are measured one after the other. */
export interface LedgerBench {
  measure(load: LedgerLoad): Promise<LedgerFigures>;
  /** Throws where a balance does not follow from the ledger; answers the seconds that it took to look. */
  audit(): Promise<number>;
  close(): Promise<void>;
}

/**
 * What a reservation and its charge cost on Redis and MariaDB, without a gateway around them.
 * @param fill puts rows into the database before anything is measured
 */
export async function openLedgerBench(fill?: (databaseUrl: string) => Promise<void>): Promise<LedgerBench> {
  const servers = { redis: await startRedis({ isDurable: true }), mariadb: await startMariadb({ isLarge: true }) };
  const folder = mkdtempSync(join(tmpdir(), "fairway-bench-"));
  const clear = async () => {
    rmSync(folder, { recursive: true, force: true });
    await Promise.all([servers.redis.stop(), servers.mariadb.stop()]);
  };
  try {
    const world = await openWorld(servers.redis.url, servers.mariadb, { folder, onOutage: "deny", fill });
    return {
      async measure(load) {
        const first = await addAccounts(world.database, load.accounts);
        return measure(world.ledger, { servers, door: world.door, load, first });
      },
      audit: () => audit(world.database.raw),
      async close() {
        await world.close();
        await clear();
      },
    };
  } catch (error) {
    await clear();
    throw error;
  }
}

async function audit(database: RawDatabase): Promise<number> {
  const startedAt = performance.now();
  const [wrong] = await checkLedgerSums(database);
  if (wrong) throw new Error(`${wrong.account}: ${wrong.what} is ${wrong.found}, should be ${wrong.expected}`);
  return (performance.now() - startedAt) / 1_000;
}

/** Measures the delay that a Redis of two seconds adds to requests that may continue without it. */
export async function benchSlowRedis(requests: number): Promise<SlowRedisFigures> {
  const servers = { redis: await startRedis({ isDurable: true }), mariadb: await startMariadb() };
  const folder = mkdtempSync(join(tmpdir(), "fairway-bench-"));
  const proxy = await startProxy(servers.redis.port);
  const world = await openWorld(`redis://127.0.0.1:${proxy.port}`, servers.mariadb, { folder, onOutage: "sql" });
  try {
    const ask = reserving(world, await addAccounts(world.database, 1));
    await ask();
    const waits = async (): Promise<Waits> => {
      const all: number[] = [];
      for (let at = 0; at < requests; at += 1) all.push(await ask());
      all.sort((a, b) => a - b);
      return { p50: all[Math.floor(requests * 0.5)] ?? 0, p99: all[Math.floor(requests * 0.99)] ?? 0 };
    };
    const usual = await waits();
    proxy.delayMs = SLOW_REDIS_MS / 2;
    return { usual, slow: await waits() };
  } finally {
    proxy.delayMs = 0;
    await world.close();
    await proxy.stop();
    rmSync(folder, { recursive: true, force: true });
    await Promise.all([servers.redis.stop(), servers.mariadb.stop()]);
  }
}

/** Limits and reservation at the same time, as a request takes them; returns how long it took. */
function reserving({ ledger, redis }: World, id: number): () => Promise<number> {
  const nextId = createIds(systemClock);
  const local = createMemoryClaims(systemClock);
  const claims = createRedisClaims({ redis, local, onOutage() {} });
  const limit: Claim = { scope: "user", subject: String(id), kind: "requests", limit: 1_000_000, amount: 1 };
  return async () => {
    const asked = performance.now();
    const requestId = nextId();
    const request = { requestId, userId: id, tokenId: id, amount: quota(1_000), isCharged: true, grant: quota(RICH) };
    const [hold] = await Promise.all([ledger.hold(request), claims.take(requestId, [limit])]);
    const waited = performance.now() - asked;
    if (isRefusal(hold)) throw new Error("refused");
    await ledger.settle(buildSettlement(hold));
    return waited;
  };
}

function buildSettlement(hold: Hold): Settlement {
  return { hold, quota: quota(700), channelId: LOG.channelId, at: systemClock.now(), log: LOG };
}

interface World {
  readonly ledger: RedisLedger;
  readonly redis: RedisClient;
  readonly database: Database;
  readonly door: Door;
  close(): Promise<void>;
}

interface WorldSettings {
  readonly folder: string;
  readonly onOutage: "deny" | "sql";
  readonly fill?: ((databaseUrl: string) => Promise<void>) | undefined;
}

async function openWorld(
  redisUrl: string,
  mariadb: Service,
  { folder, onOutage, fill }: WorldSettings,
): Promise<World> {
  const log = createLog({ level: "error", format: "text", out: process.stderr });
  await runSql(mariadb.url, "create database bench");
  const { href: url } = new URL("/bench", mariadb.url);
  await fill?.(url);
  const database = openDatabase({ url, log });
  await migrate(database, { log, mode: "auto" });
  if (fill) await settleDown(database.raw);
  await addChannel(database);
  const redis = createRedisClient({ url: new Secret(redisUrl), keys: createKeys("bench:"), log, name: "bench" });
  await redis.ready(30_000);
  const door = createDoor(database.raw);
  const ledger = createRedisLedger({
    redis,
    database: door.database,
    state: await readLedgerState(database.raw),
    clock: systemClock,
    log,
    journalDir: folder,
    instanceId: "bench",
    onOutage,
    events: { outageHold() {}, settlementFailed() {} },
  });
  await ledger.start();
  const close = async () => {
    await ledger.stop();
    await redis.close();
    await database.close();
  };
  return { ledger, redis, database, door, close };
}

/** Flushes seeded rows to disk first; the server would do that for minutes during the measurement. */
async function settleDown(database: RawDatabase): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.run("flush tables logs, ledger, quota_data for export", []);
    await tx.run("unlock tables", []);
  });
}

interface Door {
  readonly database: RawDatabase;
  close(): void;
  open(): void;
}

/** Transactions that begin while it is closed wait for its opening. */
function createDoor(raw: RawDatabase): Door {
  let opening = Promise.withResolvers<void>();
  opening.resolve();
  return {
    database: {
      ...raw,
      async transaction(work) {
        await opening.promise;
        return raw.transaction(work);
      },
    },
    close: () => void (opening = Promise.withResolvers<void>()),
    open: () => opening.resolve(),
  };
}

/** The channel of every request; a filled database has it. */
async function addChannel({ raw }: Database): Promise<void> {
  const known = await raw.rows("select id from channels where id = ?", [LOG.channelId]);
  if (known.length > 0) return;
  await raw.run(
    `insert into channels (id, type, key_sealed, key_hash, openai_organization, test_model, status, name, weight, created_time, base_url, other, models, "group", model_mapping, status_code_mapping) values (?, 1, '', '', '', '', 1, 'channel', 0, 0, '', '', '', 'default', '', '')`,
    [LOG.channelId],
  );
}

/** Answers the id of the first one; the others follow it, and each has a token of the same id. */
async function addAccounts({ raw }: Database, count: number): Promise<number> {
  const highest = "select max(id) as last from (select id from users union all select id from tokens) as taken";
  const [taken] = await raw.rows<{ last: number | null }>(highest, []);
  const first = (taken?.last ?? 0) + 1;
  for (let id = first; id < first + count; id += 1) {
    const name = `account${id}`;
    await raw.run(
      `insert into users (id, username, username_key, password, display_name, role, status, quota, "group", aff_code, created_at) values (?, ?, ?, '', '', 1, 1, ?, 'default', ?, 0)`,
      [id, name, name, RICH, name],
    );
    await raw.run(
      `insert into tokens (id, user_id, key_hash, key_sealed, status, name, created_time, accessed_time, expired_time, remain_quota, unlimited_quota, model_limits_enabled, model_limits, allow_ips, "group") values (?, ?, ?, '', 1, 'key', 0, 0, -1, ?, 0, 0, '', '', '')`,
      [id, id, name, RICH],
    );
  }
  return first;
}

interface Measuring {
  readonly servers: Servers;
  readonly door: Door;
  readonly load: LedgerLoad;
  /** The first account id. */
  readonly first: number;
}

async function measure(ledger: RedisLedger, { servers, door, load, first }: Measuring): Promise<LedgerFigures> {
  const { accounts, requests, parallel, isHeldBack } = load;
  const nextId = createIds(systemClock);
  const serve = async (userId: number) => {
    const asked = performance.now();
    const request = { requestId: nextId(), userId, tokenId: userId, amount: quota(1_000), isCharged: true };
    const hold = await ledger.hold({ ...request, grant: quota(RICH) });
    const waited = performance.now() - asked;
    if (isRefusal(hold)) throw new Error("refused");
    await ledger.settle(buildSettlement(hold));
    return waited;
  };
  // Balances are read from the database once.
  for (let at = 0; at < accounts; at += 1) await serve(first + at);
  await ledger.flush();
  if (isHeldBack) door.close();
  const clock = startClock(servers);
  const waits: number[] = [];
  let sent = 0;
  const work = async () => {
    while (sent < requests) waits.push(await serve(first + (sent++ % accounts)));
  };
  await Promise.all(Array.from({ length: parallel }, work));
  while (ledger.pending > 0) await new Promise((resolve) => setTimeout(resolve, 1));
  const live = clock();
  door.open();
  await ledger.flush(LONGEST_FLUSH_MS);
  const whole = clock();
  waits.sort((a, b) => a - b);
  const each = (ms: number) => (ms * 1000) / requests;
  return {
    load,
    perSecond: requests / (live.ms / 1000),
    behindSeconds: (whole.ms - live.ms) / 1000,
    p50: waits[Math.floor(requests * 0.5)] ?? 0,
    p99: waits[Math.floor(requests * 0.99)] ?? 0,
    cpu: { process: each(whole.process), redis: each(whole.redis), mariadb: each(whole.mariadb) },
    redisLive: each(live.redis),
  };
}

/** Answers the milliseconds that passed, and that each process worked. */
function startClock({ redis, mariadb }: Servers) {
  const own = process.cpuUsage();
  const before = { at: performance.now(), redis: cpuMs(redis), mariadb: cpuMs(mariadb) };
  return () => {
    const { user, system } = process.cpuUsage(own);
    return {
      ms: performance.now() - before.at,
      process: (user + system) / 1000,
      redis: cpuMs(redis) - before.redis,
      mariadb: cpuMs(mariadb) - before.mariadb,
    };
  };
}

/** User and system time; a tick is 10 ms. */
function cpuMs({ pid }: Service): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
