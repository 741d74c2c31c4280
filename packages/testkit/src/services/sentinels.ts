import { chown, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { findProgram, startServer, unprivileged, type Service } from "./process.ts";
import { startRedis } from "./redis.ts";

export interface RedisGroup {
  readonly primary: Service;
  readonly replica: Service;
  readonly sentinels: readonly Service[];
  readonly password: string;
  readonly sentinelPassword: string;
  /** Contains all sentinels, with both passwords. */
  readonly url: string;
  /** Returns the port of the primary that the sentinels report. */
  namedPort(): Promise<number>;
  stop(): Promise<void>;
}

export const GROUP = "mymaster";
const PASSWORD = "secret-of-redis";
const SENTINEL_PASSWORD = "secret-of-sentinels";
const QUORUM = 2;
/** The shortest silence after which sentinels consider a server dead. */
const DOWN_AFTER_MS = 1_000;
const AGREED_MS = 20_000;

/**
 * Starts a primary, its replica and three sentinels that agree about both; a primary that dies is replaced after about
 * 2 s.
 */
export async function startRedisGroup(): Promise<RedisGroup> {
  const started: Service[] = [];
  const keep = (service: Service) => (started.push(service), service);
  const stop = async () => void (await Promise.all(started.map((service) => service.stop())));
  try {
    const primary = keep(await startRedis({ isDurable: true, password: PASSWORD }));
    const replica = keep(await startRedis({ isDurable: true, password: PASSWORD, primaryPort: primary.port }));
    const sentinels = await Promise.all([1, 2, 3].map(async () => keep(await startSentinel(primary.port))));
    await agreed(sentinels);
    const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(",");
    return {
      primary,
      replica,
      sentinels,
      password: PASSWORD,
      sentinelPassword: SENTINEL_PASSWORD,
      url: `redis+sentinel://:${PASSWORD}@${hosts}/0?master=${GROUP}&sentinel_password=${SENTINEL_PASSWORD}`,
      namedPort: () => askOne(sentinels, async (redis) => readPort(await redis.call("sentinel", "master", GROUP))),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function startSentinel(primaryPort: number): Promise<Service> {
  const account = unprivileged("redis");
  return startServer({
    name: "sentinel",
    command: findProgram("redis-server", "redis-server"),
    account,
    async prepare(folder) {
      const file = join(folder, "sentinel.conf");
      await writeFile(file, configuration(primaryPort));
      if (account) await chown(file, account.uid, account.gid);
    },
    args: (folder, port) => [join(folder, "sentinel.conf"), "--sentinel", "--port", String(port), "--dir", folder],
    ready: "+monitor master",
    url: (port) => `redis://:${SENTINEL_PASSWORD}@127.0.0.1:${port}`,
    stopSignal: "SIGKILL",
  });
}

function configuration(primaryPort: number): string {
  return [
    "bind 127.0.0.1",
    `requirepass ${SENTINEL_PASSWORD}`,
    `sentinel monitor ${GROUP} 127.0.0.1 ${primaryPort} ${QUORUM}`,
    `sentinel auth-pass ${GROUP} ${PASSWORD}`,
    `sentinel down-after-milliseconds ${GROUP} ${DOWN_AFTER_MS}`,
    `sentinel failover-timeout ${GROUP} 5000`,
    "",
  ].join("\n");
}

/** Sentinels find each other and the replicas by themselves; until then they replace no primary. */
async function agreed(sentinels: readonly Service[]): Promise<void> {
  const until = performance.now() + AGREED_MS;
  const isAgreed = async (sentinel: Service) =>
    ask(sentinel, async (redis) => {
      const fields = (await redis.call("sentinel", "master", GROUP)) as string[];
      const count = (name: string) => Number(fields[fields.indexOf(name) + 1]);
      return count("num-other-sentinels") === sentinels.length - 1 && count("num-slaves") === 1;
    });
  while (!(await Promise.all(sentinels.map(isAgreed))).every(Boolean)) {
    if (performance.now() > until) throw new Error("the sentinels do not find each other");
    await pause(100);
  }
}

async function askOne<T>(sentinels: readonly Service[], question: (redis: Redis) => Promise<T>): Promise<T> {
  return Promise.any(sentinels.map((sentinel) => ask(sentinel, question)));
}

async function ask<T>({ url }: Service, question: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { enableReadyCheck: false, disableClientInfo: true, retryStrategy: () => null });
  redis.on("error", () => {
    // The call itself is rejected.
  });
  try {
    return await question(redis);
  } finally {
    redis.disconnect();
  }
}

function readPort(described: unknown): number {
  const fields = described as string[];
  return Number(fields[fields.indexOf("port") + 1]);
}
