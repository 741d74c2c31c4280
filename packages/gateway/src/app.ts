import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createManagement, type Management } from "./app-management.ts";
import { createRelayParts } from "./app-relay.ts";
import { openStorage, StartError, type AppStorage } from "./app-storage.ts";
import { consoleFolder } from "./app-console.ts";
import { createTokenCounter } from "./billing/count.ts";
import { createSqlLedger } from "./billing/ledger-sql.ts";
import type { Ledger } from "./billing/ledger.ts";
import type { Env } from "./config/env.ts";
import { removeDemo, seedDemo, type DemoDeps } from "./demo/seed.ts";
import { startDemoUpstream, type DemoUpstream } from "./demo/upstream.ts";
import { contextOf } from "./http/context.ts";
import { contentPolicy } from "./http/security.ts";
import { createHttpServer, type HttpServer } from "./http/server.ts";
import { createAuthenticator } from "./identity/authenticator.ts";
import { firstStart } from "./identity/first-start.ts";
import { createIdentity, type Identity } from "./identity/identity.ts";
import { rememberHashes } from "./identity/key-hashes.ts";
import { createQuotaReminder } from "./identity/quota-reminder.ts";
import { loadSessionSecret } from "./identity/session-secret.ts";
import { createSchedule, reaperJob } from "./jobs/schedule.ts";
import { AppError } from "./lib/app-error.ts";
import { systemClock } from "./lib/clock.ts";
import { isLoopback } from "./lib/ip.ts";
import type { Runnable } from "./lib/runnable.ts";
import { createMemoryLimiter } from "./limits/limiter-memory.ts";
import type { Limiter } from "./limits/limiter.ts";
import { edgeRules, requestRule } from "./limits/rules.ts";
import { createHealth, type Dependency, type Health } from "./observability/health.ts";
import type { Logger } from "./observability/log.ts";
import { createLoopDelay } from "./observability/loop-delay.ts";
import { createMetrics, type Metrics } from "./observability/metrics.ts";
import { readBilling } from "./relay/billing-reads.ts";
import type { PipelineDeps } from "./relay/pipeline.ts";
import { createRelay, type RelayHandler } from "./relay/relay.ts";
import type { Reporter } from "./relay/report.ts";
import { createTokenStore } from "./resources/tokens/store.ts";
import { rollUpUsage } from "./resources/usage-data/rollup.ts";
import { createSnapshotStore, type LiveSnapshots } from "./snapshot/refresh.ts";
import { createTokenCache, type ClearableTokenCache } from "./snapshot/tokens.ts";
import { VERSION } from "./version.ts";

export interface App {
  /** Resolves when both listeners answer. Throws StartError and what the parts throw. */
  start(): Promise<StartedApp>;
  /** Lets running requests end, settles what is left, closes everything. Later calls join the first. */
  stop(): Promise<void>;
  /** Ends running requests now; what they delivered is billed. For an operator who will not wait for `stop`. */
  cutOff(): void;
}

export interface StartedApp {
  readonly url: string;
  /** Undefined when no second listener was asked for. */
  readonly adminUrl: string | undefined;
  /** Key of the demo channel while both exist. */
  readonly demoKey: string | undefined;
  /** A password that was made up for the first account just now. */
  readonly madePassword: string | undefined;
  readonly hasDefaultPassword: boolean;
}

/** What every side of the program shares. */
interface Core {
  readonly env: Env;
  readonly log: Logger;
  readonly clock: typeof systemClock;
  readonly metrics: Metrics;
  readonly storage: AppStorage;
  readonly tokens: ClearableTokenCache;
  readonly snapshots: LiveSnapshots;
  readonly ledger: Ledger;
  readonly limiter: Limiter;
  readonly identity: Identity;
}

const STEPS = ["database", "snapshot", "listener"] as const;
const MINUTE_MS = 60_000;
/** For the last settlements after requests were cut off. */
const LAST_SETTLEMENTS_MS = 10_000;
const DECODED_TO_SENT = 2;
const SLOWEST_BYTES_PER_SECOND = 1024;

/** Puts the parts together in the order in which they depend on each other. Nothing listens before `start`. */
export async function createApp(env: Env, log: Logger): Promise<App> {
  const core = await createCore(env, log);
  const { metrics, ledger, snapshots, storage } = core;
  const counter = createTokenCounter();
  const { pipeline, reporter } = createRelayParts({
    ...core,
    counter,
    disable: (id, reason) => management.operations.channels.store.switchBySystem(id, 1, 3, reason),
  });
  const management: Management = createManagement({ ...core, pipeline });
  const loopDelay = createLoopDelay();
  const health = createHealth({
    ...core,
    loopDelay,
    steps: STEPS,
    dependencies: dependenciesOf(storage),
    inflight: () => ({ count: pipeline.running.requests, limit: env.maxInflight }),
  });
  const relay = relayOf(core, pipeline, reporter, health);
  const http = await httpOf(core, management, relay);
  const admin = createServer(health.handle);
  const schedule = scheduleOf(core, management);
  watch(core, pipeline, health);

  const runnables: readonly Runnable[] = [
    loopDelay,
    health,
    pipeline.running,
    ...management.operations.runnables,
    management.background,
    schedule,
  ];
  const demo = createDemo(core, management);
  let stopping: Promise<void> | undefined;

  const start = async (): Promise<StartedApp> => {
    const first = await firstStart({
      ...storage,
      ...core,
      passwords: core.identity.passwords,
      version: VERSION,
      host: env.host,
      rootPassword: env.rootPassword,
      hasWizard: env.setupWizard,
    });
    await management.setupState.refresh();
    health.done("database");
    await ledger.reap();
    await snapshots.start();
    health.done("snapshot");
    for (const runnable of runnables) await runnable.start();
    const demoKey = await demo.start();
    const url = await listening("FAIRWAY_PORT", env.host, http.listen(env.port, env.host));
    const adminUrl =
      env.adminPort === undefined
        ? undefined
        : await listening("FAIRWAY_ADMIN_PORT", env.adminHost, listen(admin, env.adminPort, env.adminHost));
    health.done("listener");
    return { ...first, url, adminUrl, demoKey };
  };

  const cutOff = (requests = pipeline.running.all()) => {
    if (requests.length === 0) return;
    log.warn("requests are cut off by the stop", { count: requests.length });
    metrics.drainAborted(requests.length);
    for (const request of requests) request.stop(new AppError("server_shutdown"));
  };

  const stop = async () => {
    health.drain();
    const closed = http.close();
    await drain(pipeline, env.drainSeconds, log);
    cutOff();
    await pipeline.running.drained(LAST_SETTLEMENTS_MS);
    for (const runnable of runnables.toReversed()) await runnable.stop();
    await ledger.flush();
    http.server.closeAllConnections();
    await Promise.all([
      closed,
      snapshots.stop(),
      counter.stop(),
      pipeline.upstreams.close(),
      core.identity.outbound.close(),
      demo.stop(),
      closeServer(admin),
    ]);
    await storage.close();
  };

  return { start, stop: () => (stopping ??= stop()), cutOff: () => cutOff() };
}

async function createCore(env: Env, log: Logger): Promise<Core> {
  const clock = systemClock;
  const metrics = createMetrics({ version: VERSION });
  const storage = await openStorage(env, log);
  const { database, logDatabase, isLogSeparate, vault } = storage;
  const tokens = createTokenCache({ raw: database.raw, clock, onFind: (isHit) => metrics.cacheAsked("tokens", isHit) });
  const snapshots = createSnapshotStore({ database, vault, log, onAccountsChanged: () => tokens.clear() });
  const limiter = createMemoryLimiter(clock);
  const sessionSecret = await loadSessionSecret(database, vault, env.sessionSecret);
  const identity = createIdentity({
    database,
    clock,
    limiter,
    options: () => snapshots.current().options,
    sessionSecret,
    services: env,
  });
  const onBalance = createQuotaReminder({
    database,
    mailer: identity.mailer,
    limiter,
    options: () => snapshots.current().options,
    log,
  });
  const ledger = createSqlLedger({
    database: database.raw,
    ...(isLogSeparate ? { logDatabase: logDatabase.raw } : {}),
    clock,
    log,
    onBalance,
  });
  return { env, log, clock, metrics, storage, tokens, snapshots, ledger, limiter, identity };
}

function dependenciesOf({ database, logDatabase, isLogSeparate }: AppStorage): Dependency[] {
  const main: Dependency = { name: "database", check: () => database.ping() };
  return isLogSeparate ? [main, { name: "log database", check: () => logDatabase.ping() }] : [main];
}

function relayOf(core: Core, pipeline: PipelineDeps, reporter: Reporter, health: Health): RelayHandler {
  const { env, storage, snapshots, identity, limiter } = core;
  const options = () => snapshots.current().options;
  return createRelay({
    ...pipeline,
    arrivalOf: contextOf,
    authenticator: createAuthenticator({
      ...core,
      ...storage,
      hashKey: rememberHashes(storage.vault.hashKey),
      options,
      sessions: identity.sessions,
    }),
    bodyLimits: {
      maxBytes: env.maxBodyBytes,
      maxDecodedBytes: DECODED_TO_SENT * env.maxBodyBytes,
      minBytesPerSecond: SLOWEST_BYTES_PER_SECOND,
    },
    reporter,
    limiter,
    requestRule: () => requestRule(options()),
    billing: (caller, read) => readBilling(caller, read, snapshots.current(), storage.database),
    isDraining: () => health.isDraining,
    maxInflight: env.maxInflight,
  });
}

function httpOf(core: Core, { routes }: Management, relay: RelayHandler): Promise<HttpServer> {
  const { env, snapshots, identity } = core;
  const rules = edgeRules(env);
  const policy = () => {
    const { TurnstileCheckEnabled, TelegramOAuthEnabled } = snapshots.current().options;
    return contentPolicy({ hasTurnstile: TurnstileCheckEnabled, hasTelegram: TelegramOAuthEnabled });
  };
  return createHttpServer({
    ...core,
    relay,
    routes,
    rules,
    webRule: rules.web,
    credentials: identity.credentials,
    humanCheck: identity.humanCheck,
    trustedProxies: env.trustedProxies,
    console: { dir: consoleFolder(), policy },
  });
}

function scheduleOf(core: Core, { operations }: Management): Runnable {
  const { storage, snapshots, identity, ledger } = core;
  const isEnabled = () => snapshots.current().options.DataExportEnabled;
  return createSchedule({
    ...core,
    jobs: [
      reaperJob(ledger),
      {
        name: "usage-rollup",
        everyMs: MINUTE_MS,
        run: (signal) => rollUpUsage({ database: storage.database, logs: storage.logDatabase, isEnabled }, signal),
      },
      {
        name: "housekeeping",
        everyMs: MINUTE_MS,
        run: () => Promise.all([identity.sessions.prune(), identity.codes.prune(), operations.wallet.expireOrders()]),
      },
    ],
  });
}

function watch({ metrics, snapshots, ledger, env }: Core, { running }: PipelineDeps, health: Health): void {
  metrics.watch({
    inflightRequests: () => running.requests,
    inflightStreams: () => running.streams,
    inflightLimit: () => env.maxInflight,
    settlementQueue: () => ledger.pending,
    isDraining: () => health.isDraining,
    isLeader: () => true,
  });
  snapshots.subscribe(({ listed }) =>
    metrics.setModels(new Set([...listed.values()].flatMap((models) => [...models]))),
  );
}

/** The echo that answers before any provider is connected; answers its key while it is wanted. */
function createDemo(
  core: Core,
  { operations }: Management,
): { start(): Promise<string | undefined>; stop(): Promise<void> } {
  const { env, storage, snapshots } = core;
  const deps: DemoDeps = {
    ...storage,
    ...core,
    channels: operations.channels.store,
    tokens: createTokenStore({ ...storage, ...core, announce: snapshots.announce }),
  };
  const isWanted = env.demo === "on" || (env.demo === "auto" && env.isEmbedded && isLoopback(env.host));
  let upstream: DemoUpstream | undefined;
  return {
    async start() {
      if (env.demo === "off") await removeDemo(deps);
      if (!isWanted) return undefined;
      upstream = await startDemoUpstream();
      return seedDemo(upstream.url, deps);
    },
    async stop() {
      await upstream?.stop();
    },
  };
}

/** Waits for running requests, and says every ten seconds how many are left. */
async function drain({ running }: PipelineDeps, seconds: number, log: Logger): Promise<void> {
  const until = performance.now() + seconds * 1000;
  while (running.requests > 0 && performance.now() < until) {
    log.info("draining", { requests: running.requests, streams: running.streams });
    await running.drained(Math.min(10_000, until - performance.now()));
  }
}

async function listening(variable: string, host: string, port: Promise<number>): Promise<string> {
  try {
    return `http://${host.includes(":") ? `[${host}]` : host}:${await port}`;
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    if (code === "EADDRINUSE")
      throw new StartError(`the port of ${variable} is in use: stop what uses it, or choose another`, { cause });
    throw new StartError(`${variable} cannot be listened on (${code}): correct it`, { cause });
  }
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
