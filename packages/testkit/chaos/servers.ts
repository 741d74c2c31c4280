import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createGuard, type Guard } from "../src/services/guard.ts";
import { startMariadb } from "../src/services/mariadb.ts";
import { startPostgres } from "../src/services/postgres.ts";
import { startRedisCluster, type RedisCluster } from "../src/services/redis-cluster.ts";
import { startRedis } from "../src/services/redis.ts";
import { runSql } from "../src/sql.ts";
import type { Service } from "../src/services.ts";
import { startRedisProxy, type RedisProxy } from "./redis-proxy.ts";

export type DatabaseName = "MariaDB" | "PostgreSQL";

export type StoreName = "Redis" | "a Redis Cluster";

/** The store of live balances. */
export type Store =
  | {
      readonly kind: "server";
      readonly redis: Service;
      /** The proxy that the replicas use instead of Redis. */
      readonly proxy: RedisProxy;
    }
  /** The first primary has a replica, the others have none. */
  | { readonly kind: "cluster"; readonly cluster: RedisCluster };

export interface Servers {
  /** URL of the gateway's database. */
  readonly database: string;
  readonly store: Store;
  /** The URL of Redis that the replicas get. */
  readonly redisUrl: string;
  freezeDatabase(): void;
  resumeDatabase(): void;
  /** Kills the database without cleanup, and starts it again on the same data. */
  crashDatabase(awayMs: number): Promise<void>;
  stop(): Promise<void>;
}

const CRASH: Readonly<Record<DatabaseName, NodeJS.Signals>> = {
  MariaDB: "SIGKILL",
  // An immediate shutdown: no checkpoint, and the next start recovers from its log. SIGKILL of the first process would
  // leave its children running.
  PostgreSQL: "SIGQUIT",
};

/** Starts servers with durable commits and an append-only Redis, like an installation. */
export async function startServers(name: DatabaseName, storeName: StoreName): Promise<Servers> {
  const server = await (name === "MariaDB" ? startMariadb : startPostgres)({ isDurable: true });
  const store = storeName === "Redis" ? await startServerStore() : await startClusterStore();
  await runSql(
    server.url,
    name === "MariaDB" ? "CREATE DATABASE chaos CHARACTER SET utf8mb4" : "CREATE DATABASE chaos",
  );
  const database = new URL(server.url);
  database.pathname = "/chaos";
  const freezer = createFreezer(server);
  return {
    database: database.href,
    store,
    redisUrl: store.kind === "server" ? store.proxy.url : store.cluster.url,
    freezeDatabase: () => freezer.freeze(),
    resumeDatabase: () => freezer.resume(),
    async crashDatabase(awayMs) {
      await server.kill(CRASH[name]);
      await sleep(awayMs);
      await server.restart();
    },
    async stop() {
      freezer.resume();
      if (store.kind === "server") await store.proxy.stop();
      await Promise.all([server.stop(), (store.kind === "server" ? store.redis : store.cluster).stop()]);
    },
  };
}

export interface Freezer {
  freeze(): void;
  resume(): void;
}

/** Stops and continues all processes of a server. */
export function createFreezer(server: Service): Freezer {
  let thaw: Guard | undefined;
  const signal = (kind: NodeJS.Signals) => {
    for (const pid of processTree(server.pid)) signalIfThere(pid, kind);
  };
  return {
    freeze() {
      // The server's guard ends it with a signal that a frozen process does not see.
      thaw = createGuard(join(server.folder, "no-folder-of-its-own"));
      thaw.watch(server.pid, "SIGCONT");
      signal("SIGSTOP");
    },
    resume() {
      if (!thaw) return;
      signal("SIGCONT");
      thaw.disarm();
      thaw = undefined;
    },
  };
}

async function startServerStore(): Promise<Store> {
  const redis = await startRedis({ isDurable: true });
  return { kind: "server", redis, proxy: await startRedisProxy(redis.port) };
}

async function startClusterStore(): Promise<Store> {
  return { kind: "cluster", cluster: await startRedisCluster({ replicaPrimaries: [0] }) };
}

/** Returns a process and its children: PostgreSQL has one for each connection. */
function processTree(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return [pid, ...(children === "" ? [] : children.split(" ").map(Number))];
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error; // it ended since it was listed
  }
}
