import { type Server } from "node:http";
import type { Core } from "./core.ts";
import type { Demo } from "./demo.ts";
import { closeServer, listen, listening } from "./listeners.ts";
import type { Management } from "./management.ts";
import { expireAll } from "../billing/ledger/sql/reaper.ts";
import type { TokenCounter } from "../billing/tokenizer/token-counter.ts";
import type { Env } from "../config/env.ts";
import type { HttpServer } from "../http/server.ts";
import { firstStart, untilPrepared } from "../identity/accounts/first-start.ts";
import { AppError } from "../lib/app-error.ts";
import type { Runnable } from "../lib/async/runnable.ts";
import { stopInTime } from "../lib/async/stop-in-time.ts";
import { isLoopback } from "../lib/net/ip.ts";
import type { Health } from "../observability/health.ts";
import type { Logger } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { PipelineDeps } from "../relay/pipeline/enter-model.ts";
import { VERSION } from "../version.ts";

export interface App {
  /** Resolves when both listeners accept connections. Throws StartError and the errors of the parts. */
  start(): Promise<StartedApp>;
  /** Waits for running requests, settles the rest, and closes everything. Later calls join the first. */
  stop(): Promise<void>;
  /** Ends running requests now; what they delivered is billed. For an operator who does not want to wait for `stop`. */
  cutOff(): void;
  /** Returns the response to a probe of the admin listener; undefined for another path. */
  readonly probe: Health["probe"];
  readonly collectMetrics: Metrics["collect"];
}

export interface StartedApp {
  readonly url: string;
  /** Undefined if no second listener was configured. */
  readonly adminUrl: string | undefined;
  /** Key of the demo channel while both exist. */
  readonly demoKey: string | undefined;
  /** Password that was generated for the first account. */
  readonly madePassword: string | undefined;
  readonly hasDefaultPassword: boolean;
}

/** How long idle connections stay open during a stop if other machines may have some. */
const IDLE_SECONDS = 5;
/** Time for the last settlements after requests were cut off. */
const LAST_SETTLEMENTS_MS = 10_000;
const LEAST_FLUSH_MS = 1_000;
/**
 * Time for a part to stop. The ledger sends its last charges within three seconds; calls that wait for an unresponsive
 * database are abandoned.
 */
const PART_MS = 5_000;

export interface Parts {
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

/** Creates the start, stop and cut-off of the whole program. */
export function createLifecycle(parts: Parts): App {
  const { log, metrics } = parts.core;
  const { running } = parts.pipeline;
  let stopping: Promise<void> | undefined;
  const cutOff = () => {
    const requests = running.all();
    const calls = running.calls();
    if (requests.length + calls.length === 0) return;
    const count = Math.max(requests.length, calls.length);
    log.warn("shutdown deadline reached, aborting requests", { count });
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
  const { host, rootPassword, setupToken, setupWizard: hasWizard, firstRetries } = env;
  if (env.migrate === "wait" && !rootPassword && !hasWizard) await untilPrepared({ ...storage, ...core });
  const root = { version: VERSION, host, rootPassword, setupToken, hasWizard, firstRetries };
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
  const { idleClosed, closed } = http.close(calculateIdleMs(core.env));
  await idleClosed;
  await drain(pipeline, until, core.log);
  cutOff();
  await pipeline.running.drained(LAST_SETTLEMENTS_MS);
  const end = (name: string, work: () => Promise<unknown> | void, ms = PART_MS) => stopInTime(core.log, name, ms, work);
  const flushMs = Math.min(LAST_SETTLEMENTS_MS, Math.max(LEAST_FLUSH_MS, core.env.drainSeconds * 1000));
  await end("last charges", () => flushed(core, flushMs), flushMs + PART_MS);
  await core.budgets.idle(LAST_SETTLEMENTS_MS);
  await end("owners of objects", () => pipeline.upstream.owners.flush());
  const polled = end("snapshot", () => core.snapshots.stop());
  for (const runnable of runnables.toReversed()) await end(runnable.name, () => runnable.stop());
  http.server.closeAllConnections();
  await closed;
  await polled;
  await counter.stop();
  await pipeline.upstream.upstreams.close();
  await demo.stop();
  await closeServer(admin);
  await end("database", () => core.storage.close());
}

function calculateIdleMs({ drainIdleSeconds, drainSeconds, host }: Env): number {
  const seconds = drainIdleSeconds === "auto" ? (isLoopback(host) ? 0 : IDLE_SECONDS) : drainIdleSeconds;
  return Math.min(seconds, drainSeconds) * 1000;
}

async function flushed({ ledger, log }: Core, ms: number): Promise<void> {
  await ledger.flush(ms).catch((error: unknown) => log.warn("charges reach the database after the stop", { error }));
}

/**
 * Waits for running requests and for calls that are still being read or answered, and logs every ten seconds how many
 * are left.
 */
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
