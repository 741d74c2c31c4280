import { Redis, type RedisOptions } from "ioredis";
import type { Secret } from "../lib/secret.ts";
import type { Logger } from "../observability/log.ts";
import type { Keys } from "./keys.ts";
import type { Call, ScriptCall } from "./script.ts";

/** Redis did not answer. `mayHaveRun` is false when the command certainly never left this process. */
export class RedisAway extends Error {
  override readonly name = "RedisAway";
  readonly mayHaveRun: boolean;

  constructor(message: string, mayHaveRun: boolean, cause?: unknown) {
    super(message, { cause });
    this.mayHaveRun = mayHaveRun;
  }
}

/** What Redis answered to one call: a value, or an Error of this call alone. */
export type Answer = unknown;

export interface RedisClient {
  readonly keys: Keys;
  /** True while the connection for commands is usable. */
  readonly isReady: boolean;
  /** Why the last attempt to connect failed. */
  readonly lastError: Error | undefined;
  /**
   * Sends the calls in one write and answers each by itself. Throws RedisAway when the connection is gone or when not
   * all answers are there after `timeoutMs`; the calls may have run then.
   */
  send(calls: readonly Call[], timeoutMs: number): Promise<readonly Answer[]>;
  /** One call; its error is thrown. */
  one(call: Call, timeoutMs: number): Promise<unknown>;
  /** Calls back now and after every reconnection; answers how to stop that. */
  onReady(listener: () => void): () => void;
  /** Resolves when the connection is usable, or after `ms`. */
  ready(ms: number): Promise<boolean>;
  /** A connection of its own, for blocking reads or subscriptions. It connects at its first command. */
  open(purpose: string): Redis;
  close(): Promise<void>;
}

export interface RedisSettings {
  readonly url: Secret;
  readonly keys: Keys;
  readonly log: Logger;
  readonly name: string;
}

const CONNECT_TIMEOUT_MS = 5_000;
const LONGEST_RECONNECT_MS = 500;
/** A connection that is silent for this long although it is asked every second is dead. */
const DEAD_AFTER_MS = 15_000;

/**
 * One connection for scripts and commands. Commands never wait in a queue for a connection: who asks decides what
 * happens while Redis is away. The first connection is made by `ready`.
 */
export function createRedisClient({ url, keys, log, name }: RedisSettings): RedisClient {
  const open = (purpose: string, options: Options = {}) => {
    const redis = new Redis(url.reveal(), { ...baseOptions(`${name}-${purpose}`), ...options });
    watch(redis, purpose, log);
    return redis;
  };
  const main = open("commands", { enableOfflineQueue: false, socketTimeout: DEAD_AFTER_MS });
  let lastError: Error | undefined;
  main.on("error", (error: Error) => (lastError = error));
  const others: Redis[] = [];
  const send = (calls: readonly Call[], timeoutMs: number) => sendAll(main, calls, timeoutMs);

  return {
    keys,
    get isReady() {
      return main.status === "ready";
    },
    get lastError() {
      return lastError;
    },
    send,
    async one(call, timeoutMs) {
      const [answer] = await send([call], timeoutMs);
      if (answer instanceof Error) throw answer;
      return answer;
    },
    onReady(listener) {
      if (main.status === "ready") listener();
      main.on("ready", listener);
      return () => main.off("ready", listener);
    },
    ready: (ms) => untilReady(main, ms),
    open(purpose) {
      const redis = open(purpose);
      others.push(redis);
      return redis;
    },
    close() {
      for (const redis of [main, ...others]) redis.disconnect();
      return Promise.resolve();
    },
  };
}

type Options = Omit<RedisOptions, "replyMapping">;

function baseOptions(connectionName: string): Options {
  return {
    connectionName,
    lazyConnect: true,
    protocol: 2,
    connectTimeout: CONNECT_TIMEOUT_MS,
    maxRetriesPerRequest: null,
    // A script that was on its way when the connection broke is asked for again by who knows whether it may.
    autoResendUnfulfilledCommands: false,
    retryStrategy: (times) => Math.min(25 * 2 ** times, LONGEST_RECONNECT_MS),
    // After a fail-over the old address may lead to a replica.
    reconnectOnError: (error) => error.message.startsWith("READONLY"),
  };
}

/** One line when the connection is lost and one when it is back, however often it is tried between. */
function watch(redis: Redis, purpose: string, log: Logger): void {
  let isLost = false;
  redis.on("error", (error: Error) => {
    if (isLost) return;
    isLost = true;
    log.warn("Redis does not answer", { connection: purpose, error });
  });
  redis.on("ready", () => {
    if (isLost) log.info("Redis answers again", { connection: purpose });
    isLost = false;
  });
}

async function untilReady(redis: Redis, ms: number): Promise<boolean> {
  if (redis.status === "ready") return true;
  if (redis.status === "wait") redis.connect().catch(() => undefined);
  return new Promise((resolve) => {
    const done = (isReady: boolean) => {
      clearTimeout(timer);
      redis.off("ready", onReady);
      resolve(isReady);
    };
    const onReady = () => done(true);
    const timer = setTimeout(() => done(false), ms);
    redis.on("ready", onReady);
  });
}

async function sendAll(redis: Redis, calls: readonly Call[], timeoutMs: number): Promise<Answer[]> {
  if (redis.status !== "ready") throw new RedisAway("Redis is not connected", false);
  const answers = await within(timeoutMs, run(redis, calls, evalsha));
  // After a restart Redis has forgotten its scripts; such calls did nothing.
  const unknown = [...answers.keys()].filter((at) => isUnknownScript(answers[at]));
  if (unknown.length > 0) {
    const again = await within(
      timeoutMs,
      run(
        redis,
        unknown.map((at) => calls[at] as ScriptCall),
        evalText,
      ),
    );
    for (const [index, at] of unknown.entries()) answers[at] = again[index];
  }
  const broken = answers.find(isConnectionError);
  if (broken) throw new RedisAway("the connection to Redis broke", true, broken);
  return answers;
}

type Words = (call: ScriptCall) => [string, ...(string | number)[]];
const evalsha: Words = ({ script, keys, args }) => ["evalsha", script.sha, keys.length, ...keys, ...args];
const evalText: Words = ({ script, keys, args }) => ["eval", script.text, keys.length, ...keys, ...args];

async function run(redis: Redis, calls: readonly Call[], words: Words): Promise<Answer[]> {
  const pipeline = redis.pipeline();
  for (const call of calls) {
    const [name, ...args] = "script" in call ? words(call) : ([call.command, ...call.args] as const);
    pipeline.call(name, ...args);
  }
  const results = (await pipeline.exec()) ?? [];
  return results.map(([error, value]) => error ?? value);
}

function isUnknownScript(answer: Answer): boolean {
  return answer instanceof Error && answer.message.startsWith("NOSCRIPT");
}

/** Errors of Redis itself are of this call; all others are of the connection. */
function isConnectionError(answer: Answer): answer is Error {
  return answer instanceof Error && answer.name !== "ReplyError";
}

/**
 * Time counts from the call, but a process that was busy looks once more at what has arrived before it gives up.
 */
function within<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      setImmediate(() => setImmediate(() => reject(new RedisAway(`Redis did not answer within ${ms} ms`, true))));
    }, ms);
    work
      .then(resolve, (error: unknown) => reject(new RedisAway("the connection to Redis broke", true, error)))
      .finally(() => clearTimeout(timer));
  });
}
