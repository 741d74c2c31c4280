// What a reservation and its charge cost on Redis and MariaDB, without a gateway around them:
//   node packages/gateway/test/ledger-bench.ts [--users 1] [--requests 60000] [--parallel 64]
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startMariadb, startRedis, type Service } from "@fairway/testkit/services";
import { runSql } from "@fairway/testkit/sql";
import { createRedisLedger, type RedisLedger } from "../src/billing/ledger-redis.ts";
import { isRefusal, type LogDetail } from "../src/billing/ledger.ts";
import { readLedgerState } from "../src/billing/ledger-state.ts";
import { quota } from "../src/billing/quota.ts";
import { createIds } from "../src/lib/ids.ts";
import { systemClock } from "../src/lib/clock.ts";
import { Secret } from "../src/lib/secret.ts";
import { createLog } from "../src/observability/log.ts";
import { createRedisClient } from "../src/redis/client.ts";
import { createKeys } from "../src/redis/keys.ts";
import { openDatabase, type Database } from "../src/storage/database.ts";
import { migrate } from "../src/storage/migrate.ts";

const { values } = parseArgs({
  options: {
    users: { type: "string", default: "1" },
    requests: { type: "string", default: "60000" },
    parallel: { type: "string", default: "64" },
  },
});
const [users, requests, parallel] = [values.users, values.requests, values.parallel].map(Number) as [
  number,
  number,
  number,
];

const RICH = 1_000_000_000_000;
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

const servers = { redis: await startRedis({ isDurable: true }), mariadb: await startMariadb() };
const folder = mkdtempSync(join(tmpdir(), "fairway-bench-"));
try {
  await bench();
} finally {
  rmSync(folder, { recursive: true, force: true });
  await Promise.all([servers.redis.stop(), servers.mariadb.stop()]);
}

async function bench(): Promise<void> {
  const log = createLog({ level: "warn", format: "text", out: process.stderr });
  await runSql(servers.mariadb.url, "create database bench");
  const database = openDatabase({ url: new URL("/bench", servers.mariadb.url).href, log });
  await migrate(database, { log, mode: "auto" });
  await addAccounts(database);
  const redis = createRedisClient({
    url: new Secret(servers.redis.url),
    keys: createKeys("bench:"),
    log,
    name: "bench",
  });
  await redis.ready(5_000);
  const ledger = createRedisLedger({
    redis,
    database: database.raw,
    state: await readLedgerState(database.raw),
    clock: systemClock,
    log,
    journalDir: folder,
    instanceId: "bench",
    onOutage: "deny",
    events: { outageHold() {}, settlementFailed() {} },
  });
  await ledger.start();
  await measure(ledger);
  await ledger.stop();
  await redis.close();
  await database.close();
}

async function addAccounts({ raw }: Database): Promise<void> {
  for (let id = 1; id <= users; id += 1) {
    const name = `user${id}`;
    await raw.run(
      `insert into users (id, username, username_key, password, display_name, role, status, quota, "group", aff_code, created_at) values (?, ?, ?, '', '', 1, 1, ?, 'default', ?, 0)`,
      [id, name, name, RICH, name],
    );
    await raw.run(
      `insert into tokens (id, user_id, key_hash, key_sealed, status, name, created_time, accessed_time, expired_time, remain_quota, unlimited_quota, model_limits_enabled, model_limits, allow_ips, "group") values (?, ?, ?, '', 1, 'key', 0, 0, -1, ?, 0, 0, '', '', '')`,
      [id, id, name, RICH],
    );
  }
}

async function measure(ledger: RedisLedger): Promise<void> {
  const nextId = createIds(systemClock);
  const waits: number[] = [];
  let sent = 0;
  const before = {
    own: process.cpuUsage(),
    redis: cpuMs(servers.redis),
    mariadb: cpuMs(servers.mariadb),
    at: performance.now(),
  };
  const work = async () => {
    while (sent < requests) {
      const userId = (sent++ % users) + 1;
      const asked = performance.now();
      const hold = await ledger.hold({
        requestId: nextId(),
        userId,
        tokenId: userId,
        amount: quota(1_000),
        isCharged: true,
        grant: quota(RICH),
      });
      waits.push(performance.now() - asked);
      if (isRefusal(hold)) throw new Error("refused");
      await ledger.settle({ hold, quota: quota(700), channelId: 1, at: systemClock.now(), log: LOG });
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  const settledAt = performance.now();
  await ledger.flush();
  const bookedAt = performance.now();
  const perRequest = (ms: number) => `${Math.round((ms * 1000) / requests)} µs`;
  const rate = (until: number) => `${Math.round(requests / ((until - before.at) / 1000))}/s`;
  const own = process.cpuUsage(before.own);
  waits.sort((a, b) => a - b);
  const wait = (part: number) => `${(waits[Math.floor(requests * part)] ?? 0).toFixed(2)} ms`;
  console.log(`${requests} requests of ${users} accounts, ${parallel} at once`);
  console.log(
    `reserved and settled ${rate(settledAt)}, booked in MariaDB ${rate(bookedAt)}, ${((bookedAt - settledAt) / 1000).toFixed(1)} s behind`,
  );
  console.log(`reservation p50 ${wait(0.5)}, p99 ${wait(0.99)}`);
  console.log(
    `CPU per request: process ${perRequest((own.user + own.system) / 1000)}, Redis ${perRequest(cpuMs(servers.redis) - before.redis)}, MariaDB ${perRequest(cpuMs(servers.mariadb) - before.mariadb)}`,
  );
}

/** User and system time; a tick is 10 ms. */
function cpuMs({ pid }: Service): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
