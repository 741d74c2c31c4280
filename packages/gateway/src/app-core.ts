import { createLimits } from "./app-limits.ts";
import { openStorage, type AppStorage } from "./app-storage.ts";
import { createSqlLedger } from "./billing/ledger-sql.ts";
import type { Ledger } from "./billing/ledger.ts";
import type { Env } from "./config/env.ts";
import { createIdentity, type Identity } from "./identity/identity.ts";
import { createQuotaReminder } from "./identity/quota-reminder.ts";
import { loadSessionSecret } from "./identity/session-secret.ts";
import { systemClock } from "./lib/clock.ts";
import type { Runnable } from "./lib/runnable.ts";
import type { Claims } from "./limits/claims.ts";
import type { Limiter } from "./limits/limiter.ts";
import type { Dependency } from "./observability/health.ts";
import type { Logger } from "./observability/log.ts";
import { createMetrics, type Metrics } from "./observability/metrics.ts";
import { createSnapshotStore, type LiveSnapshots } from "./snapshot/refresh.ts";
import { createTokenCache, type ClearableTokenCache } from "./snapshot/tokens.ts";
import { VERSION } from "./version.ts";

/** What every side of the program shares. */
export interface Core {
  readonly env: Env;
  readonly log: Logger;
  readonly clock: typeof systemClock;
  readonly metrics: Metrics;
  readonly storage: AppStorage;
  readonly tokens: ClearableTokenCache;
  readonly snapshots: LiveSnapshots;
  readonly ledger: Ledger;
  readonly limiter: Limiter;
  readonly claims: Claims;
  readonly identity: Identity;
  /** Background parts, started in this order. */
  readonly runnables: readonly Runnable[];
  readonly dependencies: readonly Dependency[];
}

/** Opens what everything else stands on. Throws StartError. */
export async function createCore(env: Env, log: Logger): Promise<Core> {
  const clock = systemClock;
  const metrics = createMetrics({ version: VERSION });
  const storage = await openStorage(env, log);
  const { database, logDatabase, isLogSeparate, vault } = storage;
  const tokens = createTokenCache({ raw: database.raw, clock, onFind: (isHit) => metrics.cacheAsked("tokens", isHit) });
  const snapshots = createSnapshotStore({ database, vault, log, onAccountsChanged: () => tokens.clear() });
  const options = () => snapshots.current().options;
  const { limiter, claims } = createLimits({ redis: undefined, clock, log, metrics });
  const sessionSecret = await loadSessionSecret(database, vault, env.sessionSecret);
  const identity = createIdentity({
    database,
    clock,
    limiter,
    options,
    sessionSecret,
    vault,
    services: env,
  });
  const onBalance = createQuotaReminder({
    database,
    mailer: identity.mailer,
    limiter,
    options,
    log,
  });
  const ledger = createSqlLedger({
    database: database.raw,
    ...(isLogSeparate ? { logDatabase: logDatabase.raw } : {}),
    clock,
    log,
    onBalance,
  });
  const dependencies = dependenciesOf(storage);
  return {
    env,
    log,
    clock,
    metrics,
    storage,
    tokens,
    snapshots,
    ledger,
    limiter,
    claims,
    identity,
    dependencies,
    runnables: [],
  };
}

function dependenciesOf({ database, logDatabase, isLogSeparate }: AppStorage): Dependency[] {
  const main: Dependency = { name: "database", check: () => database.ping() };
  return isLogSeparate ? [main, { name: "log database", check: () => logDatabase.ping() }] : [main];
}
