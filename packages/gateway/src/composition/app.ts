import { randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createCore, type Core } from "./core.ts";
import { tasksOf, type Tasks } from "./tasks.ts";
import { authenticatorOf, httpOf, readingOf, trafficOf } from "./edge.ts";
import { kubernetesOf } from "./kubernetes.ts";
import { createManagement, type Management } from "./management.ts";
import { createRelayParts } from "./relay.ts";
import { composeTracing } from "./tracing.ts";
import { StartError } from "./storage.ts";
import { createTokenCounter, type TokenCounter } from "../billing/tokenizer/token-counter.ts";
import type { Env } from "../config/env.ts";
import { removeDemo, seedDemo, type DemoDeps } from "../demo/seed.ts";
import { startDemoUpstream, type DemoUpstream } from "../demo/upstream.ts";
import type { HttpServer } from "../http/server.ts";
import { expireAll } from "../billing/ledger/sql/reaper.ts";
import { firstStart, untilPrepared } from "../identity/accounts/first-start.ts";
import { channelJobs } from "../jobs/channel-jobs.ts";
import { createDatabaseElector, createSingleElector, type Elector } from "../jobs/leader.ts";
import { logRetentionJob } from "../jobs/log-retention.ts";
import { createSchedule, paced, reaperJob, type ScheduledJob } from "../jobs/schedule.ts";
import { AppError } from "../lib/app-error.ts";
import { isLoopback } from "../lib/net/ip.ts";
import type { Runnable } from "../lib/async/runnable.ts";
import { stopInTime } from "../lib/async/stop-in-time.ts";
import { createHealth, type Health } from "../observability/health.ts";
import type { Logger } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import { createLoopDelay } from "../observability/loop-delay.ts";
import type { PipelineDeps } from "../relay/pipeline/pipeline.ts";
import { createTokenStore } from "../resources/tokens/store.ts";
import { createReplicaReports } from "../resources/system/replicas.ts";
import { rollUpStatistics } from "../resources/statistics/rollup.ts";
import { rollUpUsage } from "../resources/usage-data/rollup.ts";
import { VERSION } from "../version.ts";

export interface App {
  /** Resolves when both listeners answer. Throws StartError and what the parts throw. */
  start(): Promise<StartedApp>;
  /** Lets running requests end, settles what is left, closes everything. Later calls join the first. */
  stop(): Promise<void>;
  /** Ends running requests now; what they delivered is billed. For an operator who will not wait for `stop`. */
  cutOff(): void;
  /** The answer of a probe of the admin listener; undefined for another path. */
  readonly probe: Health["probe"];
  readonly collectMetrics: Metrics["collect"];
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

const STEPS = ["database", "snapshot", "listener"] as const;
const MINUTE_MS = 60_000;
/** Idle connections at a stop, where other machines may hold some. */
const IDLE_SECONDS = 5;
/** For the last settlements after requests were cut off. */
const LAST_SETTLEMENTS_MS = 10_000;
const LEAST_FLUSH_MS = 1_000;
/** For a part to end. The ledger sends its last charges within three seconds; what waits for a silent database is left. */
const PART_MS = 5_000;

/** Puts the parts together in the order in which they depend on each other. Nothing listens before `start`. */
export async function createApp(env: Env, log: Logger): Promise<App> {
  const core = await createCore(env, log);
  const counter = createTokenCounter();
  const disable = (id: number, reason: string, key?: string) => management.operations.channels.disable(id, reason, key);
  const authenticator = authenticatorOf(core);
  const { pipeline, reporter, fetcher, channels } = createRelayParts({
    ...core,
    counter,
    disable,
    authenticator,
  });
  const management: Management = createManagement({ ...core, pipeline });
  const loopDelay = createLoopDelay();
  const health = createHealth({
    ...core,
    loopDelay,
    steps: STEPS,
    inflight: () => ({ count: pipeline.running.requests, limit: env.maxInflight }),
  });
  const reading = readingOf(core, authenticator, pipeline.admission.calls);
  const tasks = tasksOf({ core, pipeline, reading, disable, fetcher });
  const tracing = await composeTracing(core);
  const traffic = trafficOf(core, { pipeline, reporter, tracing, health, reading, tasks: tasks.handler });
  const http = await httpOf(core, management, traffic, reading);
  watch(core, pipeline, health);
  const elector = electorOf(core);
  return lifeOf({
    core,
    pipeline,
    management,
    health,
    http,
    admin: createServer(health.handle),
    demo: createDemo(core, management),
    counter,
    runnables: [
      loopDelay,
      health,
      pipeline.running,
      ...core.runnables,
      ...(tracing ? [tracing] : []),
      ...channels,
      ...management.operations.runnables,
      management.background,
      tasks.background,
      ...(env.roles.has("jobs")
        ? [
            elector,
            scheduleOf(core, management, { elector, owners: pipeline.owners, tasks }),
            ...kubernetesOf(core, management, elector),
          ]
        : []),
      replicaReports(core, pipeline, elector),
    ],
  });
}

interface Parts {
  readonly core: Core;
  readonly pipeline: PipelineDeps;
  readonly management: Management;
  readonly health: Health;
  readonly http: HttpServer;
  readonly admin: Server;
  readonly demo: Demo;
  readonly counter: TokenCounter;
  /** Started in this order, stopped in reverse. */
  readonly runnables: readonly Runnable[];
}

function lifeOf(parts: Parts): App {
  const { log, metrics } = parts.core;
  const { running } = parts.pipeline;
  let stopping: Promise<void> | undefined;
  const cutOff = () => {
    const requests = running.all();
    const calls = running.calls();
    if (requests.length + calls.length === 0) return;
    const count = Math.max(requests.length, calls.length);
    log.warn("requests are cut off by the stop", { count });
    metrics.drainAborted(count);
    for (const request of requests) request.stop(new AppError("server_shutdown"));
    for (const call of calls) call.giveUp(new AppError("server_shutdown"));
  };
  return {
    start: () => start(parts),
    stop: () => (stopping ??= stop(parts, cutOff)),
    cutOff,
    probe: parts.health.probe,
    collectMetrics: () => metrics.collect(),
  };
}

async function start({ core, management, health, http, admin, demo, runnables }: Parts): Promise<StartedApp> {
  const { env, storage, identity, ledger, snapshots } = core;
  const { host, rootPassword, setupToken, setupWizard: hasWizard } = env;
  if (env.migrate === "wait" && !rootPassword && !hasWizard) await untilPrepared({ ...storage, ...core });
  const root = { version: VERSION, host, rootPassword, setupToken, hasWizard };
  const first = await firstStart({ ...storage, ...core, ...root, passwords: identity.passwords });
  await management.setupState.refresh();
  health.done("database");
  if (env.isEmbedded) await expireAll(storage.database.raw);
  await ledger.reap();
  await snapshots.start();
  await core.budgets.reload();
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
}

async function stop(parts: Parts, cutOff: () => void): Promise<void> {
  const { core, pipeline, health, http, admin, demo, counter, runnables } = parts;
  health.drain();
  const until = performance.now() + core.env.drainSeconds * 1000;
  const { idleClosed, closed } = http.close(idleMsOf(core.env));
  await idleClosed;
  await drain(pipeline, until, core.log);
  cutOff();
  await pipeline.running.drained(LAST_SETTLEMENTS_MS);
  const end = (name: string, work: () => Promise<unknown> | void, ms = PART_MS) => stopInTime(core.log, name, ms, work);
  const flushMs = Math.min(LAST_SETTLEMENTS_MS, Math.max(LEAST_FLUSH_MS, core.env.drainSeconds * 1000));
  await end("last charges", () => flushed(core, flushMs), flushMs + PART_MS);
  await core.budgets.idle(LAST_SETTLEMENTS_MS);
  await end("owners of objects", () => pipeline.owners.flush());
  const polled = end("snapshot", () => core.snapshots.stop());
  for (const runnable of runnables.toReversed()) await end(runnable.name, () => runnable.stop());
  http.server.closeAllConnections();
  await closed;
  await polled;
  await counter.stop();
  await pipeline.upstreams.close();
  await demo.stop();
  await closeServer(admin);
  await end("database", () => core.storage.close());
}

function idleMsOf({ drainIdleSeconds, drainSeconds, host }: Env): number {
  const seconds = drainIdleSeconds === "auto" ? (isLoopback(host) ? 0 : IDLE_SECONDS) : drainIdleSeconds;
  return Math.min(seconds, drainSeconds) * 1000;
}

async function flushed({ ledger, log }: Core, ms: number): Promise<void> {
  await ledger.flush(ms).catch((error: unknown) => log.warn("charges reach the database after the stop", { error }));
}

function electorOf({ env, storage, clock, log, metrics }: Core): Elector {
  const elector = env.isEmbedded
    ? createSingleElector()
    : createDatabaseElector({
        database: storage.database.raw,
        holder: `${env.instanceId}-${randomUUID()}`,
        clock,
        log,
        metrics,
      });
  elector.subscribe((isLeader) => {
    if (!isLeader) metrics.setChannels([]);
  });
  metrics.watch({ isLeader: () => elector.isLeader });
  return elector;
}

function replicaReports({ env, storage, clock, log }: Core, { running }: PipelineDeps, elector: Elector): Runnable {
  return createReplicaReports({
    ...storage,
    clock,
    log,
    instance: env.instanceId,
    version: VERSION,
    isLeader: () => elector.isLeader,
    running: () => running.requests,
  });
}

interface ScheduleParts {
  readonly elector: Elector;
  readonly owners: PipelineDeps["owners"];
  readonly tasks: Tasks;
}

function scheduleOf(core: Core, { operations, jobs }: Management, { elector, owners, tasks }: ScheduleParts): Runnable {
  const { env, storage, snapshots, identity, ledger } = core;
  const { database, logDatabase } = storage;
  const options = () => snapshots.current().options;
  return createSchedule({
    ...core,
    elector,
    raw: database.raw,
    jobs: [
      reaperJob(ledger),
      ...(env.updateTasks ? tasks.jobs : []),
      ...core.jobs,
      ...jobs,
      { name: "budget-reaper", isLeaderOnly: true, everyMs: 30_000, run: () => core.budgets.reap() },
      ...channelJobs({
        ...core,
        database,
        testAll: () => operations.channels.testAll(),
        refreshBalances: () => operations.channels.refreshBalances(0),
        testMinutes: env.channelTestMinutes,
        balanceMinutes: env.channelUpdateMinutes,
      }),
      logRetentionJob({
        ...core,
        logDatabase,
        days: () => options().LogRetentionDays,
        errorDays: () => options().ErrorLogRetentionDays,
        jobs: operations.jobs,
      }),
      {
        name: "usage-rollup",
        isLeaderOnly: true,
        everyMs: MINUTE_MS,
        run: paced(
          core.clock,
          () => options().DataExportInterval,
          (signal, confirm) =>
            rollUpUsage({ database, logs: logDatabase, isEnabled: () => options().DataExportEnabled, confirm }, signal),
        ),
      },
      statisticsJob(core),
      {
        name: "housekeeping",
        isLeaderOnly: true,
        everyMs: MINUTE_MS,
        run: () =>
          Promise.all([
            identity.sessions.prune(),
            identity.codes.prune(),
            operations.wallet.expireOrders(),
            owners.prune(),
          ]),
      },
    ],
  });
}

function statisticsJob({ storage, clock }: Core): ScheduledJob {
  const { database, logDatabase: logs } = storage;
  return {
    name: "statistics-rollup",
    isLeaderOnly: true,
    everyMs: MINUTE_MS,
    run: (signal, confirm) => rollUpStatistics({ database, logs, clock, confirm }, signal),
  };
}

function watch({ metrics, snapshots, ledger, env }: Core, { running }: PipelineDeps, health: Health): void {
  metrics.watch({
    inflightRequests: () => running.requests,
    inflightStreams: () => running.streams,
    inflightLimit: () => env.maxInflight,
    settlementQueue: () => ledger.pending,
    isDraining: () => health.isDraining,
  });
  snapshots.subscribe(({ listed }) =>
    metrics.setModels(new Set([...listed.values()].flatMap((models) => [...models]))),
  );
}

/** The echo that answers before any provider is connected. */
interface Demo {
  /** Answers its key while it is wanted. */
  start(): Promise<string | undefined>;
  stop(): Promise<void>;
}

function createDemo(core: Core, { operations }: Management): Demo {
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

/** Waits for running requests and for calls that are still read or answered, and says every ten seconds how many are left. */
async function drain({ running }: PipelineDeps, until: number, log: Logger): Promise<void> {
  for (;;) {
    const { requests, streams } = running;
    const calls = running.calls().length;
    const left = until - performance.now();
    if (requests + calls === 0 || left <= 0) return;
    log.info("draining", { requests, streams, calls });
    await running.idle(Math.min(10_000, left));
  }
}

async function listening(variable: string, host: string, port: Promise<number>): Promise<string> {
  try {
    return `http://${host.includes(":") ? `[${host}]` : host}:${await port}`;
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    if (code === "EADDRINUSE")
      throw new StartError(`the port of ${variable} is in use: stop what uses it, or choose another`, { cause });
    if (code === "EACCES")
      throw new StartError(`this account may not use the port of ${variable}: choose one above 1023`, { cause });
    const hostVariable = variable.replace("PORT", "HOST");
    throw new StartError(
      `${hostVariable} is "${host}", which cannot be listened on (${code}): give an address of this machine, for example 127.0.0.1`,
      { cause },
    );
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
