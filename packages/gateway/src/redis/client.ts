import { Redis, type RedisOptions } from "ioredis";
import { readRedisAddress, type RedisAddress } from "../lib/net/redis-address.ts";
import { createClusterClient } from "./cluster/cluster-client.ts";
import { baseOptions, DEAD_AFTER_MS, isUsable, readiness, sendMerged, watch } from "./connection.ts";
import { connectorTo } from "./connector.ts";
import { RedisUnavailable } from "./redis-unavailable.ts";
import type { Call } from "./script.ts";
import { createSentinels } from "./sentinels.ts";
import { createTurn, within } from "./turn-pipeline.ts";
import type { RedisClient, RedisServer, RedisSettings } from "./types.ts";
import { createWaitBudget } from "./wait-budget.ts";

export { RedisUnavailable };

export type { ClusterReads, Connection, RedisClient, RedisServer, RedisSettings } from "./types.ts";

/** The address of one server or of sentinels. */
type AloneAddress = Exclude<RedisAddress, { readonly cluster: unknown }>;

/** The name of the main connection. */
const COMMANDS = "commands";

/**
 * One connection for scripts and commands. Commands are never queued for a connection: the caller decides what happens
 * while Redis is unavailable. `ready` opens the first connection.
 */
export function createRedisClient(settings: RedisSettings): RedisClient {
  const address = readRedisAddress(settings.url.reveal());
  return "cluster" in address ? createClusterClient(address.cluster, settings) : createAloneClient(address, settings);
}

function createAloneClient(address: AloneAddress, { keys, log, name, waitMs }: RedisSettings): RedisClient {
  const server = createConnectionFactory(address);
  const open = (purpose: string, options: RedisOptions = {}) => {
    const redis = server.connection({ ...baseOptions(`${name}-${purpose}`), ...options });
    watch(redis, purpose, { log, isKnown: purpose !== COMMANDS });
    return redis;
  };
  const main = open(COMMANDS, { enableOfflineQueue: false, socketTimeout: DEAD_AFTER_MS });
  let lastError: Error | undefined;
  main.on("error", (error: Error) => {
    // This error only follows from the previous one.
    if (error.name !== "MaxRetriesPerRequestError") lastError = error;
  });
  const others: Redis[] = [];
  const waitBudget = createWaitBudget(waitMs);
  const one = createTurn((calls) => sendMerged(main, calls));
  const send = (calls: readonly Call[], timeoutMs: number) => within(timeoutMs, sendMerged(main, calls));
  const servers: readonly RedisServer[] = [{ name: "Redis", sendOne: one }];

  return {
    keys,
    cluster: undefined,
    servers: () => servers,
    getWaitBudget: () => waitBudget,
    get isReady() {
      return isUsable(main);
    },
    get lastError() {
      return lastError;
    },
    send,
    sendEach: send,
    sendOne: one,
    onReady(listener) {
      if (isUsable(main)) listener();
      main.on("ready", listener);
      return () => main.off("ready", listener);
    },
    ready: readiness(main),
    open(purpose, deadAfterMs) {
      const redis = open(purpose, deadAfterMs === undefined ? {} : { socketTimeout: deadAfterMs });
      others.push(redis);
      return redis;
    },
    close() {
      for (const redis of [main, ...others]) redis.disconnect();
      server.close();
      return Promise.resolve();
    },
  };
}

/** Creates connections to the server of the URL, or to the one that its sentinels name at that moment. */
function createConnectionFactory(address: AloneAddress): { connection(options: RedisOptions): Redis; close(): void } {
  if ("url" in address) return { connection: (options) => new Redis(address.url, options), close: () => {} };
  const sentinels = createSentinels(address.sentinels);
  const { redis, db, isTls } = address.sentinels;
  const options = { Connector: connectorTo(sentinels), ...redis, db, ...(isTls && { tls: {} }) };
  return { connection: (others) => new Redis({ ...others, ...options }), close: () => sentinels.close() };
}
