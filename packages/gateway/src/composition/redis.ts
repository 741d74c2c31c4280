import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { watchOutage, type Outage } from "./outage.ts";
import { separateLog, StartError, type AppStorage } from "./storage.ts";
import type { Budget } from "../billing/budgets/budget.ts";
import { createRedisLedger, type RedisLedger } from "../billing/ledger/redis/redis-ledger.ts";
import { type LedgerState, readLedgerState } from "../billing/ledger/redis/recovery/epoch-store.ts";
import type { Env } from "../config/env.ts";
import type { Clock } from "../lib/clock.ts";
import type { Runnable } from "../lib/async/runnable.ts";
import type { Dependency } from "../observability/health.ts";
import type { Logger } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import { checkRedis, RedisSetupError } from "../redis/check.ts";
import { createRedisClient, type RedisClient } from "../redis/client.ts";
import { createKeys, type Keys } from "../redis/keys.ts";
import { createChannel } from "../redis/pubsub.ts";
import type { LiveSnapshots } from "../snapshot/refresh.ts";
import type { Topic } from "../storage/revisions.ts";

/** Redis of this installation, checked to be usable. */
export interface AppRedis {
  readonly client: RedisClient;
  readonly state: LedgerState;
  readonly outage: Outage;
}

/** Opens Redis; undefined without FAIRWAY_REDIS_URL. Throws StartError. */
export async function openRedis(env: Env, { database }: AppStorage, log: Logger): Promise<AppRedis | undefined> {
  if (!env.redisUrl) return undefined;
  const { redisUrl: url, redisWaitMs: waitMs } = env;
  const client = createRedisClient({ url, keys: createRedisKeys(env), log, name: "fairway", waitMs });
  try {
    const state = await readLedgerState(database.raw);
    await checkRedis(client, state.installation, log);
    await warnAboutDistance(client, log);
    return { client, state, outage: watchOutage(client) };
  } catch (error) {
    await client.close();
    if (error instanceof RedisSetupError) throw new StartError(error.message, { cause: error });
    throw error;
  }
}

const PINGS = 3;
const PING_TIMEOUT_MS = 5_000;

/**
 * Warns about a slow Redis: if it is slower than the timeout of a call, nothing would ever be counted, without a
 * visible reason.
 */
async function warnAboutDistance(client: RedisClient, log: Logger): Promise<void> {
  const times: number[] = [];
  for (let at = 0; at < PINGS; at += 1) {
    const startedAt = performance.now();
    // A response that never arrives counts as late too.
    await client.sendOne({ command: "ping", args: [] }, PING_TIMEOUT_MS).catch(() => undefined);
    times.push(performance.now() - startedAt);
  }
  const ms = Math.ceil(Math.min(...times));
  const { ms: waitMs } = client.getWaitBudget(client.keys.probe);
  if (ms < waitMs) return;
  const cure = "set FAIRWAY_REDIS_WAIT_MS to more than twice that, or name a Redis that is nearer";
  log.warn(`Redis is further away than a call waits for it, limits are decided without it: ${cure}`, {
    ms,
    wait_ms: waitMs,
  });
}

function createRedisKeys({ redisPrefix }: Env): Keys {
  try {
    return createKeys(redisPrefix);
  } catch (cause) {
    throw new StartError(
      `FAIRWAY_REDIS_PREFIX ${cause instanceof Error ? cause.message : "cannot be used"}, for example fairway:`,
      { cause },
    );
  }
}

export interface ClusterDeps {
  readonly env: Env;
  readonly redis: AppRedis;
  readonly storage: AppStorage;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly onBalance: (userId: number, before: number, after: number) => void;
  readonly balanceLimit: () => number;
  readonly onThreshold: (budget: Budget, percent: number) => void;
  /** Called after a commit with one of the requests that it charged. */
  readonly onCommitted: (requestId: string) => void;
}

/** Creates the ledger over Redis. Throws StartError if its journal cannot be written. */
export function createClusterLedger(deps: ClusterDeps): RedisLedger {
  const { env, redis, storage, clock, log, metrics, onBalance, onThreshold } = deps;
  const { database } = storage;
  const journalDir = join(env.dataDir, "journal");
  try {
    const ledger = createRedisLedger({
      redis: redis.client,
      state: redis.state,
      database: database.raw,
      ...separateLog(storage),
      clock,
      log,
      journalDir,
      instanceId: env.instanceId,
      onOutage: env.quotaOnOutage,
      retainMs: env.redisChargeMinutes * 60_000,
      ...(env.journalMinutes > 0 && { retentionMs: env.journalMinutes * 60_000 }),
      events: {
        outageHold(mode) {
          metrics.heldWithoutRedis(mode);
          redis.outage.report();
        },
        settlementFailed: (isFinal) => metrics.settlementFailed(isFinal),
        logRowRefused: () => metrics.logRowRefused(),
        committed: deps.onCommitted,
        recovered: (count) => metrics.chargesRecovered(count),
      },
      onBalance,
      balanceLimit: deps.balanceLimit,
      onThreshold,
    });
    metrics.watch({ ledgerBacklog: () => ledger.backlog, journalBytes: () => ledger.journalBytes });
    return ledger;
  } catch (cause) {
    const reason = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
    throw new StartError(
      `the journal of charges cannot be written in ${journalDir} (${reason}): make FAIRWAY_DATA_DIR writable`,
      { cause },
    );
  }
}

/** Returns Redis as a dependency of the readiness probe. */
export function redisDependency(ledger: RedisLedger): Dependency {
  return { name: "redis", check: () => ledger.check() };
}

/** Notifies other replicas at once of changes that they would otherwise find a few seconds later. */
export interface ChangeChannel extends Runnable {
  publish(topic: Topic): Promise<void>;
}

export function createChangeChannel(redis: RedisClient, log: Logger, snapshots: () => LiveSnapshots): ChangeChannel {
  const publish = (topic: Topic) => {
    snapshots()
      .changed(topic)
      .catch((error: unknown) =>
        log.warn("a change of another replica could not be read, the poll will", { topic, error }),
      );
  };
  const channel = createChannel({
    redis,
    name: "changes",
    log,
    sender: randomUUID(),
    onMessage: (text) => {
      if (isTopic(text)) publish(text);
    },
    // Any change may have been missed.
    onGap: () => TOPICS.forEach(publish),
  });
  return { ...channel, publish: (topic) => channel.publish(topic) };
}

const TOPICS: readonly Topic[] = ["options", "channels", "tokens", "users"];

function isTopic(text: string): text is Topic {
  return (TOPICS as readonly string[]).includes(text);
}

/** Closes the connections after everything that uses them. */
export function redisLife({ client }: AppRedis): Runnable {
  return { name: "redis", start() {}, stop: () => client.close() };
}
