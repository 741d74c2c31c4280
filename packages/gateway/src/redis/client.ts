import { Redis, type RedisOptions } from "ioredis";
import { readRedisAddress } from "../lib/net/redis-address.ts";
import type { Secret } from "../lib/secret.ts";
import type { Logger } from "../observability/log.ts";
import { mergeCalls } from "./merge-calls.ts";
import type { Keys } from "./keys.ts";
import { createWaitBudget, type WaitBudget } from "./wait-budget.ts";
import { toPrimary } from "./primary-connector.ts";
import { RedisUnavailable } from "./redis-unavailable.ts";
import type { Call, ScriptCall } from "./script.ts";
import { createSentinels } from "./sentinels.ts";
import { createTurn, within } from "./turn-pipeline.ts";

export { RedisUnavailable };

/** What Redis answered to one call: a value, or an Error of this call alone. */
export type Answer = unknown;

/** A connection for one purpose. */
export type Connection = Redis;

export interface RedisClient {
  readonly keys: Keys;
  /** How long requests wait for Redis when they can do without it. */
  readonly waitBudget: WaitBudget;
  /** True while the connection for commands is usable. */
  readonly isReady: boolean;
  /** Why the last attempt to connect failed. */
  readonly lastError: Error | undefined;
  /**
   * Sends the calls in one write and answers each by itself. Throws RedisUnavailable when the connection is lost or
   * when answers are missing after `timeoutMs`; the calls may have run then.
   */
  send(calls: readonly Call[], timeoutMs: number): Promise<readonly Answer[]>;
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
  /** How long requests wait for Redis when they can do without it; see `waitBudget`. */
  readonly waitMs?: number;
}

/** The connection that everything begins with. */
const COMMANDS = "commands";
const CONNECT_TIMEOUT_MS = 5_000;
const LONGEST_RECONNECT_MS = 500;
/** A connection that is silent for this long although it is asked every second is dead. */
const DEAD_AFTER_MS = 15_000;

/**
 * One connection for scripts and commands. Commands are never queued for a connection: the caller decides what happens
 * while Redis is unavailable. `ready` opens the first connection.
 */
export function createRedisClient({ url, keys, log, name, waitMs }: RedisSettings): RedisClient {
  const server = serverOf(url);
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

  return {
    keys,
    waitBudget: createWaitBudget(waitMs),
    get isReady() {
      return isUsable(main);
    },
    get lastError() {
      return lastError;
    },
    send: (calls, timeoutMs) => within(timeoutMs, sendMerged(main, calls)),
    one: createTurn((calls) => sendMerged(main, calls)),
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
function serverOf(url: Secret): { connection(options: RedisOptions): Redis; close(): void } {
  const address = readRedisAddress(url.reveal());
  if ("url" in address) return { connection: (options) => new Redis(address.url, options), close: () => {} };
  const sentinels = createSentinels(address.sentinels);
  const primary = toPrimary(sentinels, address.sentinels);
  return { connection: (options) => new Redis({ ...options, ...primary }), close: () => sentinels.close() };
}

function baseOptions(connectionName: string): RedisOptions {
  return {
    connectionName,
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    // Pending commands of a broken connection fail at once: the sender knows whether a retry is safe.
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    // Rejections of the library's own subscriptions are unhandled and would end the process.
    autoResubscribe: false,
    retryStrategy: (times) => Math.min(25 * 2 ** times, LONGEST_RECONNECT_MS),
    // After a fail-over the old address may lead to a replica.
    reconnectOnError: (error) => error.message.startsWith("READONLY"),
  };
}

/** The first connection reports why it failed. */
interface Watching {
  readonly log: Logger;
  readonly isKnown: boolean;
}

/** Logs one line when the connection is lost and one when it is restored. */
function watch(redis: Redis, purpose: string, { log, isKnown }: Watching): void {
  let isLost = !isKnown;
  let isReported = false;
  const lose = (fields: { readonly reason?: string }) => {
    if (isLost) return;
    isLost = isReported = true;
    log.warn("Redis does not answer", { connection: purpose, ...fields });
  };
  redis.on("error", (error: Error) => lose({ reason: error.message }));
  // Comes only when it will be tried again, not when this side closes.
  redis.on("reconnecting", () => lose({}));
  redis.on("ready", () => {
    if (isReported) log.info("Redis answers again", { connection: purpose });
    isLost = isReported = false;
  });
}

/**
 * Between the end of a socket and its close the client library says "ready" and refuses all commands. Who tried again
 * at once would keep the event loop from ever coming to the close.
 */
function isUsable({ status, stream }: Redis): boolean {
  return status === "ready" && stream.writable;
}

/** One listener for all waiting requests, instead of one each while Redis is unavailable. */
function readiness(redis: Redis): (ms: number) => Promise<boolean> {
  const waiting = new Set<() => void>();
  redis.on("ready", () => {
    for (const wake of waiting) wake();
  });
  return (ms) => {
    if (isUsable(redis)) return Promise.resolve(true);
    if (redis.status === "wait") redis.connect().catch(() => undefined);
    return new Promise((resolve) => {
      const done = (isReady: boolean) => {
        clearTimeout(timer);
        waiting.delete(wake);
        resolve(isReady);
      };
      const wake = () => done(true);
      const timer = setTimeout(() => done(false), ms);
      waiting.add(wake);
    });
  };
}

async function sendMerged(redis: Redis, calls: readonly Call[]): Promise<Answer[]> {
  const merged = mergeCalls(calls);
  return merged.scatter(await sendAll(redis, merged.calls));
}

async function sendAll(redis: Redis, calls: readonly Call[]): Promise<Answer[]> {
  if (!isUsable(redis)) throw new RedisUnavailable("Redis is not connected", false);
  const answers = await run(redis, calls, evalsha);
  // After a restart Redis has forgotten its scripts; such calls did nothing.
  const unknown = [...answers.keys()].filter((at) => isUnknownScript(answers[at]));
  if (unknown.length > 0) {
    const scripts = unknown.map((at) => calls[at] as ScriptCall);
    const again = await run(redis, scripts, evalText);
    for (const [index, at] of unknown.entries()) answers[at] = again[index];
  }
  const broken = answers.find(isConnectionError);
  if (broken) throw new RedisUnavailable("the connection to Redis broke", true, broken);
  return answers;
}

type Words = (call: ScriptCall) => [string, ...(string | number)[]];
const evalsha: Words = ({ script, keys, args }) => ["evalsha", script.sha, keys.length, ...keys, ...args];
const evalText: Words = ({ script, keys, args }) => ["eval", script.text, keys.length, ...keys, ...args];

/** The socket keeps the commands until the last one is there; a pipeline object would cost half as much again. */
function run(redis: Redis, calls: readonly Call[], words: Words): Promise<Answer[]> {
  const { stream } = redis;
  stream.cork();
  const answers = calls.map((call) => ask(redis, call, words));
  stream.uncork();
  return Promise.all(answers);
}

/** Never rejects. */
async function ask(redis: Redis, call: Call, words: Words): Promise<Answer> {
  const [name, ...args] = "script" in call ? words(call) : ([call.command, ...call.args] as const);
  try {
    return await redis.call(name, ...args);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function isUnknownScript(answer: Answer): boolean {
  return answer instanceof Error && answer.message.startsWith("NOSCRIPT");
}

/** Errors of Redis itself are of this call; all others are of the connection. */
function isConnectionError(answer: Answer): answer is Error {
  return answer instanceof Error && answer.name !== "ReplyError";
}
