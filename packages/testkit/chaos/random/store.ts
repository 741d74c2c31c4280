import { Redis } from "ioredis";
import { startRedis } from "../../src/services/redis.ts";
import type { Service } from "../../src/services.ts";
import { createFreezer, type Freezer } from "../servers.ts";

/** The Redis of a run, and what can happen to it. */
export interface ChaosStore {
  /** The server that takes writes now. */
  readonly server: Service;
  freeze(): void;
  resume(): void;
  crash(): Promise<void>;
  restart(): Promise<void>;
  wipe(): Promise<void>;
  /** Kills the primary; a replica that may be behind takes its place. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

const COPIED_MS = 5_000;

export async function startStore(): Promise<ChaosStore> {
  let server = await startRedis({ isDurable: true });
  const servers = [server];
  let freezer: Freezer | undefined;
  return {
    get server() {
      return server;
    },
    freeze() {
      freezer = createFreezer(server);
      freezer.freeze();
    },
    resume: () => freezer?.resume(),
    crash: () => server.kill("SIGKILL"),
    restart: () => server.restart(),
    wipe: () => ask(server, "flushall"),
    async failOver() {
      const replica = await startRedis({ isDurable: true, primaryPort: server.port });
      servers.push(replica);
      const limit = performance.now() + COPIED_MS;
      while (!(await readLink(replica)) && performance.now() < limit);
      await server.kill("SIGKILL");
      await ask(replica, "replicaof", "no", "one");
      server = replica;
    },
    async stop() {
      freezer?.resume();
      for (const one of servers) await one.stop();
    },
  };
}

async function readLink({ url }: Service): Promise<boolean> {
  const redis = new Redis(url);
  try {
    return (await redis.info("replication")).includes("master_link_status:up");
  } finally {
    redis.disconnect();
  }
}

async function ask({ url }: Service, command: string, ...args: string[]): Promise<void> {
  const redis = new Redis(url);
  try {
    await redis.call(command, ...args);
  } finally {
    redis.disconnect();
  }
}
