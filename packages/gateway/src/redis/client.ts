import { Redis, type RedisOptions } from "ioredis";
import { readRedisAddress, type RedisAddress } from "../lib/net/redis-address.ts";
import type { Secret } from "../lib/secret.ts";
import type { Logger } from "../observability/log.ts";
import { createClusterClient } from "./cluster/cluster-client.ts";
import { baseOptions, DEAD_AFTER_MS, isUsable, readiness, sendMerged, watch, type Answer } from "./connection.ts";
import { connectorTo } from "./connector.ts";
import type { Keys } from "./keys.ts";
import { RedisUnavailable } from "./redis-unavailable.ts";
import type { Call } from "./script.ts";
import { createSentinels } from "./sentinels.ts";
import { createTurn, within } from "./turn-pipeline.ts";
import { createWaitBudget, type WaitBudget } from "./wait-budget.ts";

export { RedisUnavailable };

/** A connection for one purpose. */
export type Connection = Redis;

/** One server of an installation's Redis. */
export interface RedisServer {
  /** `host:port` of a node of a cluster; "Redis" where there is one server. */
  readonly name: string;
  /** As `one` of the client, to this server. */
  one(call: Call, timeoutMs: number): Promise<unknown>;
}

/** Reads that may be long, on connections of their own to all primaries of a cluster. */
export interface ClusterReads {
  sendEach(calls: readonly Call[], timeoutMs: number): Promise<readonly Answer[]>;
  close(): void;
}

export interface RedisClient {
  readonly keys: Keys;
  /** What only a Redis Cluster has; undefined where one server has all keys. */
  readonly cluster: { openReads(purpose: string): ClusterReads } | undefined;
  /** The server, or the primaries of a cluster that have slots. */
  servers(): readonly RedisServer[];
  /** How long requests wait for the server of this key when they can do without it. */
  waitBudgetOf(key: string): WaitBudget;
  /** True while the connection for commands is usable; of a cluster those to all primaries, and each slot has one. */
  readonly isReady: boolean;
  /** Why the last attempt to connect failed. */
  readonly lastError: Error | undefined;
  /**
   * Sends the calls in one write and answers each by itself. Throws RedisUnavailable when the connection is lost or
   * when answers are missing after `timeoutMs`; the calls may have run then.
   */
  send(calls: readonly Call[], timeoutMs: number): Promise<readonly Answer[]>;
  /** Like `send`, but a node of a cluster that is not there answers its own calls with RedisUnavailable. */
  sendEach(calls: readonly Call[], timeoutMs: number): Promise<readonly Answer[]>;
  /** One call; throws its error. All calls of one event loop turn share one write. */
  one(call: Call, timeoutMs: number): Promise<unknown>;
  /** Calls back now and after every reconnection; returns a function that stops it. */
  onReady(listener: () => void): () => void;
  /** Resolves when the connection is usable, or after `ms`. */
  ready(ms: number): Promise<boolean>;
  /**
   * A connection of its own, for blocking reads or subscriptions. It connects at its first command. One that gets no
   * byte for `deadAfterMs` is replaced.
   */
  open(purpose: string, deadAfterMs?: number): Connection;
  close(): Promise<void>;
}

export interface RedisSettings {
  readonly url: Secret;
  readonly keys: Keys;
  readonly log: Logger;
  readonly name: string;
  /** How long requests wait for Redis when they can do without it; see `waitBudgetOf`. */
  readonly waitMs?: number;
}

/** `Redis` of the settings: one server or sentinels. */
type AloneAddress = Exclude<RedisAddress, { readonly cluster: unknown }>;

/** The connection that everything begins with. */
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
  const server = serverOf(address);
  const open = (purpose: string, options: RedisOptions = {}) => {
    const redis = server.connection({ ...baseOptions(`${name}-${purpose}`), ...options });
    watch(redis, purpose, { log, isKnown: purpose !== COMMANDS });
    return redis;
  };
  const main = open(COMMANDS, { enableOfflineQueue: false, socketTimeout: DEAD_AFTER_MS });
  let lastError: Error | undefined;
  main.on("error", (error: Error) => {
    // Follows from the one before.
    if (error.name !== "MaxRetriesPerRequestError") lastError = error;
  });
  const others: Redis[] = [];
  const waitBudget = createWaitBudget(waitMs);
  const one = createTurn((calls) => sendMerged(main, calls));
  const send = (calls: readonly Call[], timeoutMs: number) => within(timeoutMs, sendMerged(main, calls));
  const servers: readonly RedisServer[] = [{ name: "Redis", one }];

  return {
    keys,
    cluster: undefined,
    servers: () => servers,
    waitBudgetOf: () => waitBudget,
    get isReady() {
      return isUsable(main);
    },
    get lastError() {
      return lastError;
    },
    send,
    sendEach: send,
    one,
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

/** How connections are made: to the server of the URL, or to the one that its sentinels name at that moment. */
function serverOf(address: AloneAddress): { connection(options: RedisOptions): Redis; close(): void } {
  if ("url" in address) return { connection: (options) => new Redis(address.url, options), close: () => {} };
  const sentinels = createSentinels(address.sentinels);
  const { redis, db, isTls } = address.sentinels;
  const options = { Connector: connectorTo(sentinels), ...redis, db, ...(isTls && { tls: {} }) };
  return { connection: (others) => new Redis({ ...others, ...options }), close: () => sentinels.close() };
}
