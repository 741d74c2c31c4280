import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { Secret } from "../../../lib/secret.ts";
import { createLog, type Logger } from "../../../observability/log.ts";
import { createRedisClient, type RedisClient } from "../../../redis/client.ts";
import { createKeys, selectShard, findHashTag } from "../../../redis/keys.ts";
import type { Call } from "../../../redis/script.ts";
import { openDatabase } from "../../../storage/database.ts";
import { migrate, migrateLogs } from "../../../storage/schema/migrate.ts";
import type { RawDatabase } from "../../../storage/engines/raw.ts";
import { BALANCE_LIMIT, type LedgerHarness, type TestClock, testClock } from "../test-harness.contract.ts";
import type { RedisLedgerSettings } from "./ledger-settings.ts";
import { createRedisLedger, type RedisLedger } from "./redis-ledger.ts";
import { readLedgerState } from "./recovery/epoch-store.ts";

const LEASE_MS = 60_000;

export interface RedisHarness extends LedgerHarness {
  readonly ledger: RedisLedger;
  readonly redis: RedisClient;
  readonly journalDir: string;
  readonly lines: readonly string[];
  /** Simulates a crash: nothing is flushed, the journal stays. */
  crash(): Promise<void>;
}

export interface RedisHarnessSettings {
  readonly redisUrl: string;
  /** Shared by replicas. */
  readonly prefix?: string;
  readonly logUrl?: string;
  readonly clock?: TestClock;
  readonly journalDir?: string;
  readonly part?: Partial<RedisLedgerSettings>;
  /** Wraps the database of the ledger. */
  readonly wrap?: (database: RawDatabase) => RawDatabase;
}

export function newPrefix(): string {
  return `t${randomBytes(5).toString("hex")}:`;
}

/** Opens the Redis ledger on a database, which is migrated if it is empty. */
export async function openRedisHarness(url: string, settings: RedisHarnessSettings): Promise<RedisHarness> {
  const { clock = testClock(), prefix = newPrefix(), wrap = (raw: RawDatabase) => raw } = settings;
  const lines: string[] = [];
  const log = linesLog(lines);
  const database = openDatabase({ url, log });
  await migrate(database, { log, mode: "auto" });
  const logs = settings.logUrl === undefined ? undefined : openDatabase({ url: settings.logUrl, log });
  if (logs) await migrateLogs(logs, { log, mode: "auto" });
  const keys = createKeys(prefix);
  const redis = withinSlots(createRedisClient({ url: new Secret(settings.redisUrl), keys, log, name: "test" }));
  if (!(await redis.ready(30_000))) throw new Error("Redis is not reachable");
  const journalDir = settings.journalDir ?? mkdtempSync(join(tmpdir(), "fairway-journal-"));
  const raw = wrap(database.raw);
  const ledger = createRedisLedger({
    redis,
    database: raw,
    ...(logs ? { logDatabase: logs.raw } : {}),
    state: await readLedgerState(database.raw),
    clock,
    leaseClock: clock,
    log,
    journalDir,
    instanceId: "test",
    onOutage: "deny",
    leaseMs: LEASE_MS,
    balanceLimit: () => BALANCE_LIMIT,
    barrierMs: 0,
    events: { outageHold: () => {}, settlementFailed: () => {} },
    ...settings.part,
  });
  await ledger.start();
  const end = async () => {
    await redis.close();
    await database.close();
    await logs?.close();
  };
  return {
    ledger,
    redis,
    journalDir,
    lines,
    database: database.raw,
    logDatabase: (logs ?? database).raw,
    clock,
    leaseMs: LEASE_MS,
    openHolds: (userId) => openHolds(redis, userId),
    async close() {
      await ledger.flush();
      await ledger.stop();
      await end();
      if (settings.journalDir === undefined) rmSync(journalDir, { recursive: true, force: true });
    },
    async crash() {
      await end();
      for (const folder of readdirSync(journalDir)) rmSync(join(journalDir, folder, "lock"), { force: true });
    },
  };
}

export function linesLog(lines: string[]): Logger {
  const out = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  return createLog({ level: "info", format: "json", out });
}

/** Returns a client that fails like Redis Cluster if the keys of one script are in different slots. */
function withinSlots(redis: RedisClient): RedisClient {
  const check = (call: Call) => {
    const keys = "script" in call ? call.keys : [];
    const tags = new Set(keys.map(findHashTag));
    if (keys.length > 0 && (tags.size !== 1 || tags.has(undefined)))
      throw new Error(`keys of several slots: ${keys.join(" ")}`);
  };
  return {
    ...redis,
    get isReady() {
      return redis.isReady;
    },
    get lastError() {
      return redis.lastError;
    },
    async sendOne(call, timeoutMs) {
      check(call);
      return redis.sendOne(call, timeoutMs);
    },
    async send(calls, timeoutMs) {
      calls.forEach(check);
      return redis.send(calls, timeoutMs);
    },
    async sendEach(calls, timeoutMs) {
      calls.forEach(check);
      return redis.sendEach(calls, timeoutMs);
    },
  };
}

async function openHolds({ keys, sendOne }: RedisClient, userId: number): Promise<number> {
  const records = (await sendOne({ command: "hvals", args: [keys.holds(selectShard(userId))] }, 2_000)) as string[];
  return records.filter((record) => record.split(":")[1] === String(userId)).length;
}
