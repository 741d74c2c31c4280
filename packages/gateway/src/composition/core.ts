import { createLimits } from "./relay/limits.ts";
import { createDegradationLister, watchDatabase } from "./outage.ts";
import {
  type AppRedis,
  type ChangeChannel,
  createChangeChannel,
  createClusterLedger,
  openRedis,
  redisDependency,
  redisLife,
} from "./redis.ts";
import { openNetwork } from "./network.ts";
import { openStorage, ownStorage, separateLog, type AppStorage } from "./storage.ts";
import { createBudgets, type Budgets } from "../billing/budgets/budgets.ts";
import { watchCommits, type WatchedCommits } from "./commits.ts";
import { createSqlLedger, type SqlLedgerSettings } from "../billing/ledger/sql/sql-ledger.ts";
import type { Ledger } from "../billing/ledger/ledger.ts";
import type { RedisLedger } from "../billing/ledger/redis/redis-ledger.ts";
import type { Env } from "../config/env.ts";
import { budgetNotice } from "../identity/mail/budget-notice.ts";
import { createIdentity, type Identity } from "../identity/accounts/identity.ts";
import { createQuotaReminder } from "../identity/mail/quota-reminder.ts";
import { loadSessionSecret } from "../identity/sessions/session-secret.ts";
import { backlogWatchJob } from "../jobs/backlog-watch.ts";
import { ledgerAuditJob, type LedgerAuditDeps } from "../jobs/ledger-audit.ts";
import { redisWatchJob } from "../jobs/redis-watch.ts";
import type { ScheduledJob } from "../jobs/schedule.ts";
import type { Network } from "../lib/net/network.ts";
import { systemClock } from "../lib/clock.ts";
import type { Runnable } from "../lib/async/runnable.ts";
import { ANSWER_MS, withinTime } from "../lib/async/time-limit.ts";
import type { Claims } from "../limits/claims.ts";
import type { Limiter } from "../limits/limiter.ts";
import type { DegradationStatus } from "../observability/degradation-status.ts";
import type { Dependency } from "../observability/health.ts";
import type { Logger } from "../observability/log.ts";
import { createMetrics, type Metrics } from "../observability/metrics.ts";
import type { RedisClient } from "../redis/client.ts";
import type { Topic } from "../storage/revisions.ts";
import { createSnapshotStore, type LiveSnapshots } from "../snapshot/refresh.ts";
import { createKeyUses } from "../identity/keys/key-uses.ts";
import { createTokenCache, type ClearableTokenCache } from "../snapshot/tokens.ts";
import { VERSION } from "../version.ts";

/** Services that all parts of the program share. */
export interface Core {
  readonly env: Env;
  readonly log: Logger;
  readonly clock: typeof systemClock;
  readonly metrics: Metrics;
  readonly network: Network;
  readonly storage: AppStorage;
  readonly tokens: ClearableTokenCache;
  readonly snapshots: LiveSnapshots;
  readonly ledger: Ledger;
  /** Undefined in a single process. */
  readonly redis: RedisClient | undefined;
  readonly limiter: Limiter;
  readonly claims: Claims;
  readonly budgets: Budgets;
  readonly identity: Identity;
  /** Background services, started in this order. */
  readonly runnables: readonly Runnable[];
  readonly dependencies: readonly Dependency[];
  /** Returns the mode of each part, now and while Redis is down. */
  readonly listDegradations: () => readonly DegradationStatus[];
  readonly jobs: readonly ScheduledJob[];
}

/** Opens what all other parts depend on. Throws StartError. */
export async function createCore(env: Env, log: Logger): Promise<Core> {
  const clock = systemClock;
  const metrics = createMetrics({ version: VERSION });
  const network = openNetwork(env, log);
  const opened = await openStorage(env, log);
  const storage = env.isEmbedded ? await ownStorage(env, opened) : opened;
  const { database, vault } = storage;
  const redis = await openRedis(env, storage, log);
  const watched = watchDatabase();
  const tokens = createTokenCache({
    raw: database.raw,
    clock,
    isClosed: () => watched.isAway && env.databaseOnOutage === "deny",
    onFind: (isHit) => metrics.cacheAsked("tokens", isHit),
    onOldKey: createKeyUses({ ...database, clock, log }),
  });
  const channel = redis && createChangeChannel(redis.client, log, () => snapshots);
  const snapshots: LiveSnapshots = createSnapshotStore({
    database,
    vault,
    log,
    clock,
    onAccountsChanged: () => tokens.clear(),
    onPolled: (hasAnswered) => watched.polled(hasAnswered),
    ...(channel ? { publish: (topic) => publish(topic, { channel, ledger: cluster }) } : {}),
  });
  const options = () => snapshots.current().options;
  const listDegradations = createDegradationLister(env, redis, watched);
  metrics.watch({ listDegradations });
  const { limiter, claims } = createLimits({ redis, log, metrics, env });
  const sessionSecret = await loadSessionSecret(database, vault, env.sessionSecret);
  const parts = { database, clock, limiter, options, sessionSecret, vault, network };
  const identity = createIdentity({ ...parts, services: env, sessionMaxDays: env.sessionMaxDays });
  const onBalance = createQuotaReminder({ ...env, database, mailer: identity.mailer, limiter, options, log });
  const balanceLimit = () => options().QuotaRemindThreshold;
  const notices = { onBalance, balanceLimit, onThreshold: budgetNotice({ database, mailer: identity.mailer, log }) };
  const common = { env, storage, clock, log, metrics, snapshots };
  const { ledger, cluster, watch } = await openLedger({ ...common, redis }, notices);
  const budgets = buildBudgets({ storage, ledger, log, metrics, snapshots });
  return {
    env,
    log,
    clock,
    metrics,
    network,
    storage,
    tokens,
    snapshots,
    ledger,
    redis: redis?.client,
    limiter,
    claims,
    budgets,
    identity,
    listDegradations,
    dependencies: [...listDependencies(storage), ...(cluster ? [redisDependency(cluster)] : [])],
    runnables: [network, ...(redis && channel && cluster ? [redisLife(redis), channel, cluster] : []), watch],
    jobs: cluster ? redisJobs({ env, redis, cluster, database: database.raw, clock, log, metrics }) : [],
  };
}

type RedisJobsDeps = Omit<LedgerAuditDeps, "redis"> &
  Pick<Core, "env"> & { readonly redis: AppRedis | undefined; readonly cluster: RedisLedger };

/** Jobs about live balances and about the service that has them. */
function redisJobs(deps: RedisJobsDeps): ScheduledJob[] {
  const { redis, cluster, env } = deps;
  return [
    ...(redis ? [ledgerAuditJob({ ...deps, redis: redis.client })] : []),
    redisWatchJob({ ...deps, check: () => cluster.check(), instance: env.instanceId }),
    backlogWatchJob({ ...deps, backlog: () => cluster.backlog }),
  ];
}

type Notices = Required<Pick<SqlLedgerSettings, "onBalance">> & {
  readonly onThreshold: NonNullable<SqlLedgerSettings["onThreshold"]>;
  readonly balanceLimit: NonNullable<SqlLedgerSettings["balanceLimit"]>;
};
type LedgerParts = Pick<Core, "env" | "storage" | "clock" | "log" | "metrics" | "snapshots">;

/** Opens the ledger, which watches whether the database retains what it has committed. */
async function openLedger(parts: LedgerParts & { readonly redis: AppRedis | undefined }, notices: Notices) {
  const { redis } = parts;
  const onCommitted = (requestId: string) => commits.watch.committed({ requestId, kind: "consume" });
  const cluster: RedisLedger | undefined = redis && createClusterLedger({ ...parts, redis, onCommitted, ...notices });
  const ledger = cluster ?? openSqlLedger(parts, notices);
  const commits: WatchedCommits = await watchCommits({ ...parts, ledger, cluster, ...notices });
  return { ...commits, cluster };
}

function openSqlLedger(
  { storage, clock, log, metrics }: Pick<Core, "storage" | "clock" | "log" | "metrics">,
  notices: Notices,
): Ledger {
  const { logRowRefused: onLogRowRefused } = metrics;
  return createSqlLedger({ ...selectRawDatabases(storage), clock, log, ...notices, onLogRowRefused });
}

/** Writes the limits of tokens to the live balances before the change is confirmed. */
async function publish(
  topic: Topic,
  { channel, ledger }: { readonly channel: ChangeChannel; readonly ledger: RedisLedger | undefined },
): Promise<void> {
  if (topic === "tokens") await ledger?.followTokenLimits();
  await channel.publish(topic);
}

/** Creates the budgets. Their changes raise the revision of the options, so that every replica reads both again. */
function buildBudgets(parts: Pick<Core, "storage" | "ledger" | "log" | "metrics" | "snapshots">): Budgets {
  const { storage, ledger, log, metrics, snapshots } = parts;
  const budgets = createBudgets({
    database: storage.database.raw,
    reservations: ledger.budgets,
    log,
    onOutage: metrics.budgetNotAsked,
  });
  snapshots.subscribe(() => {
    budgets.reload().catch((error: unknown) => log.warn("budgets cannot be read, the last ones stay", { error }));
  });
  return budgets;
}

function selectRawDatabases(storage: AppStorage) {
  return { database: storage.database.raw, ...separateLog(storage) };
}

function listDependencies({ database, logDatabase, isLogSeparate }: AppStorage): Dependency[] {
  const main: Dependency = { name: "database", check: () => withinTime(ANSWER_MS, () => database.check("revisions")) };
  const logs: Dependency = {
    name: "log database",
    check: () => withinTime(ANSWER_MS, () => logDatabase.check("logs")),
  };
  return isLogSeparate ? [main, logs] : [main];
}
