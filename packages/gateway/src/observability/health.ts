import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../lib/clock.ts";
import { repeat } from "../lib/async/repeat.ts";
import type { Runnable } from "../lib/async/runnable.ts";
import type { DegradationStatus } from "./degradation-status.ts";
import type { Logger } from "./log.ts";
import type { LoopDelay } from "./loop-delay.ts";
import type { Metrics } from "./metrics.ts";
import { wantsOpenMetrics } from "./open-metrics.ts";
import { describeError } from "./reason.ts";

/**
 * An external service that the gateway uses. It never affects readiness: it is shared, so all replicas would become
 * unready at once.
 */
export interface Dependency {
  readonly name: "database" | "log database" | "redis" | "kubernetes";
  /** Rejects if it does not answer. */
  readonly check: () => Promise<void>;
}

export interface HealthDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "dependency" | "expose">;
  readonly loopDelay: Pick<LoopDelay, "p99Ms">;
  /** Steps that must complete before the process counts as started. */
  readonly steps: readonly string[];
  readonly dependencies: readonly Dependency[];
  readonly listDegradations: () => readonly DegradationStatus[];
  /** The number of running relayed requests and its limit; 0 = no limit. */
  readonly inflight: () => { readonly count: number; readonly limit: number };
}

export interface Health extends Runnable {
  /** Call when one of `steps` is complete. */
  done(step: string): void;
  /** Call when the process is stopping and no longer ready. */
  drain(): void;
  readonly isDraining: boolean;
  readonly isReady: boolean;
  /** Returns the answer of `/startupz`, `/readyz` or `/livez`; undefined for another path. */
  probe(path: string, isVerbose: boolean): ProbeAnswer | undefined;
  /** Answers the probes (`?verbose` for a list) and `/metrics` on a separate listener. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
}

export interface ProbeAnswer {
  readonly status: 200 | 503;
  readonly text: string;
}

const CHECK_EVERY_MS = 10_000;
const CHECK_TIMEOUT_MS = 5_000;
const SLOW_LOOP_MS = 1_000;

interface Check {
  readonly name: string;
  /** Undefined = passed. */
  readonly problem: string | undefined;
}

interface Finding {
  readonly isUp: boolean;
  readonly detail: string;
  readonly at: number;
}

export function createHealth(deps: HealthDeps): Health {
  const pending = new Set(deps.steps);
  const findings = new Map<string, Finding>();
  let isDraining = false;

  const started = (): Check[] =>
    deps.steps.map((name) => ({ name, problem: pending.has(name) ? "not yet" : undefined }));
  const ready = (): Check[] => [
    { name: "started", problem: pending.size > 0 ? `waiting for ${[...pending].join(", ")}` : undefined },
    { name: "draining", problem: isDraining ? "the process is stopping" : undefined },
    loopCheck(deps.loopDelay.p99Ms()),
    inflightCheck(deps.inflight()),
  ];
  const probes: Readonly<Record<string, () => Check[]>> = {
    "/startupz": started,
    "/readyz": ready,
    "/livez": () => [],
  };
  const checking = repeat({
    name: "dependency checks",
    everyMs: CHECK_EVERY_MS,
    work: () => checkAll(deps, findings),
    onError: (error) => deps.log.error("dependency checks failed", { error }),
  });

  const probe = (path: string, isVerbose: boolean): ProbeAnswer | undefined => {
    const checks = probes[path];
    if (!checks) return undefined;
    return buildProbeAnswer({
      name: path.slice(1),
      checks: checks(),
      notes: isVerbose ? notes(findings, deps) : undefined,
    });
  };

  return {
    name: "health",
    probe,
    done: (step) => void pending.delete(step),
    drain: () => void (isDraining = true),
    get isDraining() {
      return isDraining;
    },
    get isReady() {
      return ready().every((check) => check.problem === undefined);
    },
    handle(request, response) {
      const { pathname = "", searchParams } = URL.parse(request.url ?? "/", "http://admin") ?? {};
      const answer = probe(pathname, searchParams?.has("verbose") === true);
      if (request.method !== "GET" && request.method !== "HEAD") send(response, 405, "method not allowed\n");
      else if (pathname === "/metrics") void sendMetrics(deps, request, response);
      else if (!answer) send(response, 404, "not found\n");
      else send(response, answer.status, answer.text);
    },
    async start() {
      await checkAll(deps, findings);
      await checking.start();
    },
    stop: () => checking.stop(),
  };
}

function loopCheck(p99Ms: number): Check {
  return { name: "event loop", problem: p99Ms >= SLOW_LOOP_MS ? `p99 delay ${Math.round(p99Ms)} ms` : undefined };
}

function inflightCheck({ count, limit }: { readonly count: number; readonly limit: number }): Check {
  return { name: "in-flight requests", problem: limit > 0 && count >= limit ? `${count} of ${limit}` : undefined };
}

interface ProbeResult {
  readonly name: string;
  readonly checks: readonly Check[];
  /** Present if the answer is verbose. */
  readonly notes: readonly string[] | undefined;
}

function buildProbeAnswer({ name, checks, notes: lines }: ProbeResult): ProbeAnswer {
  const problems = checks.filter((check) => check.problem !== undefined);
  const status = problems.length === 0 ? 200 : 503;
  if (!lines) {
    const text = problems.length === 0 ? "ok\n" : problems.map((check) => `${check.name}: ${check.problem}\n`).join("");
    return { status, text };
  }
  const listed = checks.map((check) =>
    check.problem === undefined ? `[+] ${check.name} ok` : `[-] ${check.name}: ${check.problem}`,
  );
  return {
    status,
    text: [...listed, ...lines, `${name} ${problems.length === 0 ? "passed" : "failed"}`, ""].join("\n"),
  };
}

/** Returns dependencies and current degradations for a reader; none of them changes the verdict. */
function notes(findings: ReadonlyMap<string, Finding>, { clock, listDegradations }: HealthDeps): string[] {
  const found = [...findings].map(
    ([name, { isUp, detail, at }]) =>
      `[${isUp ? "+" : "!"}] ${name} ${detail}, ${Math.round((clock.now() - at) / 1000)} s ago`,
  );
  return [
    ...found,
    ...listDegradations().map(({ part, isNormal, detail }) => `[${isNormal ? "+" : "!"}] ${part} ${detail}`),
  ];
}

async function checkAll(deps: HealthDeps, findings: Map<string, Finding>): Promise<void> {
  await Promise.all(deps.dependencies.map((dependency) => checkOne(deps, findings, dependency)));
}

async function checkOne(
  { clock, log, metrics }: HealthDeps,
  findings: Map<string, Finding>,
  { name, check }: Dependency,
): Promise<void> {
  const startedAt = performance.now();
  const problem = await withTimeout(check()).then(
    () => undefined,
    (reason: unknown) => (reason instanceof Error && reason.message !== "" ? reason.message : describeError(reason)),
  );
  const ms = performance.now() - startedAt;
  const isUp = problem === undefined;
  const wasUp = findings.get(name)?.isUp;
  if (isUp && wasUp === false) log.info("dependency answers again", { dependency: name });
  if (!isUp && wasUp !== false) log.warn("dependency does not answer", { dependency: name, problem });
  const detail = isUp ? `ok in ${Math.round(ms)} ms` : `down: ${problem}`;
  findings.set(name, { isUp, detail, at: clock.now() });
  metrics.dependency({ name, isUp, seconds: ms / 1000 });
}

async function withTimeout(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${CHECK_TIMEOUT_MS} ms`)), CHECK_TIMEOUT_MS);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

async function sendMetrics(
  { metrics, log }: HealthDeps,
  { headers }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const { contentType, text } = await metrics.expose(wantsOpenMetrics(headers.accept) ? "open" : "plain");
    response.writeHead(200, { "content-type": contentType }).end(text);
  } catch (error) {
    log.error("metrics cannot be written", { error });
    send(response, 500, "metrics cannot be written\n");
  }
}

function send(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" }).end(text);
}
