import type { Redis, RedisOptions } from "ioredis";
import type { Logger } from "../observability/log.ts";
import { mergeCalls } from "./merge-calls.ts";
import { RedisUnavailable } from "./redis-unavailable.ts";
import type { Call, ScriptCall } from "./script.ts";

/** Redis's answer to one call: a value, or an Error of this call only. */
export type Answer = unknown;

/** A connection that is silent for this long although it is pinged every second is dead. */
export const DEAD_AFTER_MS = 15_000;
const CONNECT_TIMEOUT_MS = 5_000;
const LONGEST_RECONNECT_MS = 500;

export function baseOptions(connectionName: string): RedisOptions {
  return {
    connectionName,
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    // Pending commands of a broken connection fail at once, because only the sender knows whether a retry is safe.
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    // The library does not handle rejections of its own subscriptions, which would end the process.
    autoResubscribe: false,
    retryStrategy: (times) => Math.min(25 * 2 ** times, LONGEST_RECONNECT_MS),
    // After a failover, the old address may lead to a replica.
    reconnectOnError: (error) => error.message.startsWith("READONLY"),
  };
}

/** `isKnown` is false for the first connection, whose failure the caller reports. */
interface Watching {
  readonly log: Logger;
  readonly isKnown: boolean;
}

/** Logs one line when the connection is lost and one when it is restored. */
export function watch(redis: Redis, purpose: string, { log, isKnown }: Watching): void {
  let isLost = !isKnown;
  let isReported = false;
  const lose = (fields: { readonly reason?: string }) => {
    if (isLost) return;
    isLost = isReported = true;
    log.warn("Redis does not answer", { connection: purpose, ...fields });
  };
  redis.on("error", (error: Error) => lose({ reason: error.message }));
  // The event is emitted only before a retry, not when this side closes.
  redis.on("reconnecting", () => lose({}));
  redis.on("ready", () => {
    if (isReported) log.info("Redis answers again", { connection: purpose });
    isLost = isReported = false;
  });
}

/**
 * True if the connection accepts commands. Between the end of a socket and its close event, the client library says
 * "ready" but refuses all commands; retrying at once would prevent the event loop from ever reaching the close event.
 */
export function isUsable({ status, stream }: Redis): boolean {
  return status === "ready" && stream.writable;
}

/**
 * Returns a wait for the connection with one listener for all waiting requests, instead of one each while Redis is
 * unavailable.
 */
export function readiness(redis: Redis): (ms: number) => Promise<boolean> {
  const waiting = new Set<() => void>();
  redis.on("ready", () => {
    for (const wake of waiting) wake();
  });
  return (ms) => {
    if (isUsable(redis)) return Promise.resolve(true);
    if (redis.status === "wait") redis.connect().catch(() => undefined);
    return waitIn(waiting, ms);
  };
}

/** Resolves to true when woken through `waiting`, or to false after `ms`. */
export function waitIn(waiting: Set<() => void>, ms: number): Promise<boolean> {
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
}

/** Sends all calls in one write. Throws RedisUnavailable if the connection breaks before all answers have arrived. */
export async function sendMerged(redis: Redis, calls: readonly Call[]): Promise<Answer[]> {
  const merged = mergeCalls(calls);
  return merged.scatter(await sendAll(redis, merged.calls));
}

async function sendAll(redis: Redis, calls: readonly Call[]): Promise<Answer[]> {
  if (!isUsable(redis)) throw new RedisUnavailable("Redis is not connected", false);
  const answers = await run(redis, calls, evalsha);
  // After a restart Redis has lost its scripts; such calls did nothing.
  const unknown = [...answers.keys()].filter((at) => isUnknownScript(answers[at]));
  if (unknown.length > 0) {
    const scripts = unknown.map((at) => calls[at] as ScriptCall);
    const again = await run(redis, scripts, evalText);
    for (const [index, at] of unknown.entries()) answers[at] = again[index];
  }
  throwBroken(answers);
  return answers;
}

/** Sends one call to the node that is importing a slot; throws like `sendMerged`. */
export async function sendAsking(redis: Redis, call: Call): Promise<Answer> {
  if (!isUsable(redis)) throw new RedisUnavailable("Redis is not connected", false);
  const { calls, scatter } = mergeCalls([call]);
  const answers = await run(redis, [{ command: "asking", args: [] }, ...calls], evalText);
  throwBroken(answers);
  return scatter(answers.slice(1))[0];
}

function throwBroken(answers: readonly Answer[]): void {
  const broken = answers.find(isConnectionError);
  if (broken) throw new RedisUnavailable("the connection to Redis broke", true, broken);
}

type Words = (call: ScriptCall) => [string, ...(string | number)[]];
const evalsha: Words = ({ script, keys, args }) => ["evalsha", script.sha, keys.length, ...keys, ...args];
const evalText: Words = ({ script, keys, args }) => ["eval", script.text, keys.length, ...keys, ...args];

/**
 * Sends the calls. The socket buffers the commands until the last one; a pipeline object would cost half as much again.
 */
function run(redis: Redis, calls: readonly Call[], words: Words): Promise<Answer[]> {
  const { stream } = redis;
  stream.cork();
  const answers = calls.map((call) => ask(redis, call, words));
  stream.uncork();
  return Promise.all(answers);
}

/** Sends one call; returns its error instead of rejecting. */
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

/** True for errors of the connection; errors of Redis itself belong to the call. */
function isConnectionError(answer: Answer): answer is Error {
  return answer instanceof Error && answer.name !== "ReplyError";
}
