import { Cluster, Redis } from "ioredis";
import { runSql } from "../src/sql.ts";
import { liveBudgetFindings, reservedInBudgets } from "./budgets.ts";
import type { Servers } from "./servers.ts";

/** Balances in Redis while nothing runs. */
export interface LiveBooks {
  /** Accounts with a balance in Redis; 0 = the replicas use only the balances in the database. */
  readonly accounts: number;
  /** Open reservations anywhere, and accounts that differ between Redis and the database. */
  readonly findings: readonly string[];
}

const BATCH = 1_000;

/** Compares Redis with the database; exact only while nothing moves. */
export async function liveBooks({ store, database }: Servers): Promise<LiveBooks> {
  return compareLive(
    store.kind === "server" ? new Redis(store.redis.url) : new Cluster(store.cluster.seeds()),
    database,
  );
}

/** Compares Redis with the database, and ends the connection. */
export async function compareLive(redis: Redis | Cluster, database: string): Promise<LiveBooks> {
  try {
    const keys = await allKeys(redis);
    const findings = [
      ...(await listReserved(database)),
      ...(await heldInRedis(redis, keys)),
      ...(await differentBudgets(redis, keys, database)),
    ];
    let accounts = 0;
    for (const { table, column, pattern } of KINDS) {
      for (const row of await runSql(database, `select id, ${column} as balance from ${table}`)) {
        const id = String(row["id"]);
        const key = keys.find((candidate) => pattern.exec(candidate)?.[1] === id);
        const account = key && (await redis.hgetall(key));
        // An account without an epoch was never read from the database.
        if (!account || account["e"] === undefined) continue;
        accounts += 1;
        if (Number(account["b"]) !== Number(row["balance"]))
          findings.push(`${table}:${id}: ${account["b"]} in Redis, ${String(row["balance"])} in the database`);
        if (Number(account["h"] ?? 0) !== 0) findings.push(`${table}:${id}: ${account["h"]} held in Redis`);
      }
    }
    return { accounts, findings };
  } finally {
    redis.disconnect();
  }
}

const KINDS = [
  { table: "users", column: "quota", pattern: /\}u(\d+)$/ },
  { table: "tokens", column: "-used_quota", pattern: /\}t(\d+)$/ },
];

async function allKeys(redis: Redis | Cluster): Promise<string[]> {
  if (redis instanceof Redis) return scanKeys(redis);
  await redis.ping();
  return (await Promise.all(redis.nodes("master").map(scanKeys))).flat();
}

async function scanKeys(redis: Redis): Promise<string[]> {
  const keys: string[] = [];
  let cursor = "0";
  do {
    const [next, found] = await redis.scan(cursor, "COUNT", BATCH);
    keys.push(...found);
    cursor = next;
  } while (cursor !== "0");
  return keys;
}

async function heldInRedis(redis: Redis | Cluster, keys: readonly string[]): Promise<string[]> {
  const findings: string[] = [];
  for (const key of keys.filter((candidate) => candidate.endsWith("}holds"))) {
    for (const [id, record] of Object.entries(await redis.hgetall(key)))
      if (/^\d/.test(record)) findings.push(`${id}: a reservation in Redis (${record})`);
  }
  for (const key of keys.filter((candidate) => candidate.endsWith("}charges"))) {
    const waiting = await redis.xlen(key);
    if (waiting > 0) findings.push(`${key}: ${waiting} charges are not in the database`);
  }
  return findings;
}

async function differentBudgets(redis: Redis | Cluster, keys: readonly string[], database: string): Promise<string[]> {
  const [epochKey, stateKey] = ["epoch", "state"].map((part) => keys.find((key) => key.endsWith(`{budgets}${part}`)));
  if (epochKey === undefined || stateKey === undefined)
    return ["Redis has no budgets: the replicas did not share them"];
  const epoch = (await redis.get(epochKey)) ?? "";
  return liveBudgetFindings(database, { epoch, state: await redis.hgetall(stateKey) });
}

/** Returns what is reserved in the database. */
export async function listReserved(database: string): Promise<string[]> {
  return [...(await heldInDatabase(database)), ...(await reservedInBudgets(database))];
}

async function heldInDatabase(database: string): Promise<string[]> {
  const findings: string[] = [];
  for (const table of ["users", "tokens"]) {
    for (const row of await runSql(database, `select id, held from ${table} where held <> 0`))
      findings.push(`${table}:${String(row["id"])}: ${String(row["held"])} held in the database`);
  }
  for (const row of await runSql(database, "select request_id from holds"))
    findings.push(`${String(row["request_id"])}: a reservation in the database`);
  return findings;
}
