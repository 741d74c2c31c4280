import type { Logger } from "../observability/log.ts";
import { tryCommands } from "./check-commands.ts";
import { RedisUnavailable, type RedisClient, type RedisServer } from "./client.ts";
import { ClusterError } from "./cluster/cluster-error.ts";
import { warnAboutNodes } from "./check-nodes.ts";
import { script } from "./script.ts";
import { SentinelError } from "./sentinels.ts";

/** Thrown if Redis does not meet the gateway's requirements; the message names the variable and the remedy. */
export class RedisSetupError extends Error {
  override readonly name = "RedisSetupError";
}

const CONNECT_MS = 6_000;
const STEP_MS = 200;
const TIMEOUT_MS = 5_000;
const OLDEST_MAJOR = 6;
const CLUSTER =
  "it is a node of a Redis Cluster: write redis+cluster://, or rediss+cluster:// for TLS, and name some of its nodes";
const ACCESS = "allow it all commands, keys and channels that begin with FAIRWAY_REDIS_PREFIX";
const HELLO = script("return redis.call('get', KEYS[1])");

/**
 * Checks at the start what would otherwise fail later during charges: Redis answers, is not a replica, accepts writes,
 * runs scripts, permits the gateway's commands, and its prefix belongs to this database. Warns of settings that only
 * risk losing the last second.
 */
export async function checkRedis(redis: RedisClient, installation: string, log: Logger): Promise<void> {
  await connect(redis);
  const infos = await Promise.all(redis.servers().map(serverInfo));
  for (const info of infos) {
    if (Number(info["redis_version"]?.split(".")[0] ?? OLDEST_MAJOR) < OLDEST_MAJOR)
      throw refusal(`it is version ${info["redis_version"]}: use Redis 6.2 or newer`);
    if (!redis.cluster && info["cluster_enabled"] === "1") throw refusal(CLUSTER);
    if (info["role"] === "slave") throw refusal("it is a read-only replica: name the primary");
  }
  await write(redis);
  await runScript(redis);
  await tryCommands(redis).catch((error: unknown) => {
    throw explained(error);
  });
  await claimPrefix(redis, installation);
  for (const info of infos) warn(info, redis.cluster ? { node: info["name"] } : {}, log);
  if (redis.cluster) await warnAboutNodes(redis, infos, log);
}

function refusal(reason: string, cause?: unknown): RedisSetupError {
  return new RedisSetupError(`the Redis of FAIRWAY_REDIS_URL cannot be used: ${reason}`, { cause });
}

async function connect(redis: RedisClient): Promise<void> {
  for (let waited = 0; waited < CONNECT_MS; waited += STEP_MS) {
    const isReady = await redis.ready(STEP_MS);
    const { lastError } = redis;
    // The client would continue in database 0.
    if (isSelection(lastError)) throw refusal(`${text(lastError)}: correct the number at the end`, lastError);
    if (isReady) return;
    if (lastError && isMistake(lastError)) throw refusal(lastError.message, lastError);
    if (isAuthentication(lastError)) throw explained(lastError);
  }
  const { lastError } = redis;
  if (lastError instanceof ClusterError && lastError.problem === "incomplete")
    throw refusal(lastError.message, lastError);
  throw unreachable(lastError);
}

function unreachable(lastError: Error | undefined): RedisSetupError {
  const reason = lastError?.message ?? `no answer within ${CONNECT_MS / 1000} s`;
  const cure = isUnauthenticated(lastError) ? "" : "; rediss:// speaks TLS, redis:// does not";
  return refusal(`it cannot be reached (${reason}): start it, or correct the variable${cure}`, lastError);
}

/** Returns true if waiting does not help. */
function isMistake(error: Error): boolean {
  if (error instanceof SentinelError) return error.isMistake;
  return error instanceof ClusterError && error.problem === "mistake";
}

/** True if nothing answers there; any other error may come from a server with another protocol. */
function isUnauthenticated(error: Error | undefined): boolean {
  return /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|certificate/.test(text(error));
}

async function serverInfo({ name, sendOne }: RedisServer): Promise<Record<string, string>> {
  try {
    const text = String(await sendOne({ command: "info", args: [] }, TIMEOUT_MS));
    const lines = text.split("\r\n").filter((line) => line.includes(":"));
    const fields: Record<string, string> = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]),
    );
    return { ...fields, name };
  } catch (error) {
    if (error instanceof RedisUnavailable || isAuthentication(error)) throw explained(error);
    // Some managed services hide INFO; the other checks cover the important properties.
    return { name };
  }
}

async function write(redis: RedisClient): Promise<void> {
  try {
    await redis.sendOne({ command: "set", args: [redis.keys.probe, "1", "PX", 1_000] }, TIMEOUT_MS);
  } catch (error) {
    throw explained(error);
  }
}

async function runScript(redis: RedisClient): Promise<void> {
  try {
    await redis.sendOne({ script: HELLO, keys: [redis.keys.probe], args: [] }, TIMEOUT_MS);
  } catch (error) {
    if (error instanceof RedisUnavailable) throw explained(error);
    throw refusal(`it does not run scripts (${text(error)}): allow EVAL and EVALSHA`, error);
  }
}

/** Claims the prefix, because two installations under one prefix would mix the balances of two databases. */
async function claimPrefix(redis: RedisClient, installation: string): Promise<void> {
  const { installation: key } = redis.keys;
  await redis.sendOne({ command: "set", args: [key, installation, "NX"] }, TIMEOUT_MS);
  const owner = await redis.sendOne({ command: "get", args: [key] }, TIMEOUT_MS);
  if (owner === installation) return;
  throw refusal(
    "its keys under FAIRWAY_REDIS_PREFIX belong to another database: give each installation a prefix of its own, or delete the old keys after a move",
  );
}

function warn(info: Record<string, string>, fields: { readonly node?: string | undefined }, log: Logger): void {
  if (info["aof_enabled"] === "0")
    log.warn(
      "Redis keeps no append-only file: after a crash of Redis balances are rebuilt from the database and the journals of running processes; set appendonly yes",
      fields,
    );
  const policy = info["maxmemory_policy"];
  if (info["maxmemory"] !== undefined && info["maxmemory"] !== "0" && policy !== undefined && policy !== "noeviction")
    log.warn(`Redis may evict ${evicted(policy)}: set maxmemory-policy noeviction`, { ...fields, policy });
}

/**
 * Describes the data that a policy evicts. Balances never expire; every other policy evicts keys with an expiry as
 * well.
 */
function evicted(policy: string): string {
  return policy.startsWith("allkeys") ? "balances" : "limits and what is known of channels";
}

function explained(error: unknown): RedisSetupError {
  if (isAuthentication(error)) return refusal("it refuses the user name or password", error);
  if (/^(?:MOVED|CLUSTERDOWN|CROSSSLOT)/.test(text(error))) return refusal(CLUSTER, error);
  if (text(error).startsWith("READONLY")) return refusal("it is a read-only replica: name the primary", error);
  if (text(error).startsWith("NOPERM"))
    return refusal(`its user may not do what is needed (${text(error)}): ${ACCESS}`, error);
  if (/unknown command/i.test(text(error))) return refusal(`${text(error)}: use Redis 6.2 or newer`, error);
  const cure = text(error).startsWith("OOM") ? ": raise its maxmemory, or make room" : "";
  return refusal(`it does not take writes (${text(error)})${cure}`, error);
}

/** True for an error of SELECT, which the client library sends to select a database. */
function isSelection(error: Error | undefined): boolean {
  const { command } = (error ?? {}) as { readonly command?: { readonly name?: string } };
  return command?.name === "select";
}

function isAuthentication(error: unknown): boolean {
  return /NOAUTH|WRONGPASS/.test(text(error));
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
