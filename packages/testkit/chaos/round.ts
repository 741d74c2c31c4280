import { setTimeout as sleep } from "node:timers/promises";
import { REFUSED_BY_BUDGET } from "./budgets.ts";
import { isClean, openBooks, readBooks, type Baseline } from "./books.ts";
import type { Completion, Outcome } from "./client.ts";
import type { Fault, Pace } from "./faults.ts";
import { liveBooks } from "./live-books.ts";
import { startLoad, type Load } from "./load.ts";
import type { Replicas } from "./replicas.ts";
import { phaseProblems, type Phase, type Round } from "./verdict.ts";
import { createWorld, type World } from "./world.ts";
import type { DatabaseName, StoreName } from "./servers.ts";

export interface Plan {
  readonly database: DatabaseName;
  readonly store: StoreName;
  readonly faults: readonly Fault[];
  readonly perSecond: number;
  readonly pace: Pace;
  /** Calm load before the first fault and after each. */
  readonly calmMs: number;
  /** The list of faults is repeated until this much time has passed. */
  readonly lastsMs: number;
  /** A program to use instead of the gateway's sources. */
  readonly program: string | undefined;
  readonly say: (line: string) => void;
}

const RECOVERY_LIMIT_MS = 45_000;
const AGREEMENT_LIMIT_MS = 45_000;
/** Leases last 60 s, those of budgets 120 s; a sweep follows within 30 s. */
const QUIET_LIMIT_MS = 200_000;

/** How many problems of a phase are printed at once; the rest is in the verdict. */
const SAID = 5;

interface Course {
  readonly plan: Plan;
  readonly world: World;
  readonly load: Load;
  readonly baseline: Baseline;
}

/** Runs all faults of the plan under one load, with an audit of the books after each and at the end. */
export async function runRound(plan: Plan): Promise<Round> {
  const startedAt = performance.now();
  plan.say(`${plan.database} and ${plan.store}: starting`);
  const world = await createWorld(plan);
  try {
    const baseline = await openBooks(world.servers.database);
    const load = startLoad(plan.perSecond, (serial) => pickRoute(world, serial));
    const phases: Phase[] = [];
    try {
      await sleep(plan.calmMs);
      do {
        for (const fault of plan.faults) phases.push(await runPhase({ plan, world, load, baseline }, fault));
      } while (performance.now() - startedAt < plan.lastsMs);
    } finally {
      await load.stop();
    }
    const end = await untilQuiet(world, baseline, load.outcomes);
    return {
      database: plan.database,
      store: plan.store,
      phases,
      requests: load.outcomes.length,
      withheld: load.withheld,
      completions: count(load.outcomes),
      ...end,
      deaths: world.replicas.deaths,
      logs: Object.fromEntries(world.replicas.all.map(({ name, process }) => [name, process.logs])),
      complaints: countComplaints(world.replicas),
      seconds: Math.round((performance.now() - startedAt) / 1000),
    };
  } finally {
    await world.stop();
  }
}

/** Returns the target of a request: replicas in rotation and keys in turn. */
export function pickRoute({ replicas, keys }: Pick<World, "replicas" | "keys">, serial: number) {
  const ready = replicas.ready();
  const replica = ready[serial % ready.length];
  const key = keys[serial % keys.length];
  return replica && key ? { replica: replica.name, url: replica.process.url, key } : undefined;
}

async function runPhase({ plan, world, load, baseline }: Course, fault: Fault): Promise<Phase> {
  plan.say(`${plan.database} and ${plan.store}: ${fault.name}`);
  const from = performance.now();
  const { store } = world.servers;
  const isIdle = fault.isOfRedis === true && store.kind === "server" && store.proxy.connections === 0;
  const { note, failure } = await attempt(fault, world, plan.pace);
  const lifted = performance.now();
  const recoveredMs = await until(RECOVERY_LIMIT_MS, () =>
    load.outcomes.some(({ completion, startedAt }) => completion === "delivered" && startedAt > lifted),
  );
  await sleep(plan.calmMs);
  await load.endedBefore(lifted);
  // The load continues: requests that end from here on are checked after the next fault.
  const ended = [...load.outcomes];
  let books = await readBooks(world.servers.database, baseline, ended);
  const agreedMs = await until(AGREEMENT_LIMIT_MS, async () => {
    if (!isClean(books.findings)) books = await readBooks(world.servers.database, baseline, ended);
    return isClean(books.findings);
  });
  const to = performance.now();
  const touched = load.outcomes.filter(({ startedAt, endedAt }) => startedAt < to && endedAt > from);
  const own = touched.filter(({ startedAt }) => startedAt >= from);
  const failed = touched.filter(
    ({ completion, reason }) => completion !== "delivered" && completion !== "left" && reason !== REFUSED_BY_BUDGET,
  );
  const phase: Phase = {
    fault,
    about: fault.about(plan.pace),
    note,
    failure,
    seconds: Math.round((to - from) / 1000),
    completions: count(own),
    deliveredDuring: touched.filter(({ completion, endedAt }) => completion === "delivered" && endedAt <= lifted)
      .length,
    recoveredMs,
    agreedMs,
    books,
    isIdle,
    harmed: fault.isHarmless ? failed.map(describe) : [],
    reasons: countReasons(failed),
  };
  for (const problem of phaseProblems(phase).slice(0, SAID)) plan.say(`  ${problem}`);
  return phase;
}

async function attempt(fault: Fault, world: World, pace: Pace): Promise<Pick<Phase, "note" | "failure">> {
  try {
    return { note: await fault.run(world, pace), failure: "" };
  } catch (error) {
    return { note: "", failure: error instanceof Error ? error.message : String(error) };
  }
}

/** Waits until nothing is reserved and everything agrees; always returns the last check. */
async function untilQuiet(world: World, baseline: Baseline, outcomes: readonly Outcome[]) {
  const look = async () => ({
    books: await readBooks(world.servers.database, baseline, outcomes),
    live: await liveBooks(world.servers),
  });
  let seen = await look();
  const quietMs = await until(QUIET_LIMIT_MS, async () => {
    seen = await look();
    return isClean(seen.books.findings) && seen.live.findings.length === 0;
  });
  return { ...seen, quietMs };
}

/** Returns how long it took; Infinity if the limit was reached first. */
export async function until(limitMs: number, isTrue: () => boolean | Promise<boolean>): Promise<number> {
  const from = performance.now();
  while (!(await isTrue())) {
    if (performance.now() - from > limitMs) return Infinity;
    await sleep(200);
  }
  return Math.round(performance.now() - from);
}

function count(outcomes: readonly Outcome[]): Record<Completion, number> {
  const completions = { delivered: 0, refused: 0, cut: 0, unanswered: 0, left: 0 };
  for (const { completion } of outcomes) completions[completion] += 1;
  return completions;
}

function countReasons(failed: readonly Outcome[]): Record<string, number> {
  const reasons: Record<string, number> = {};
  for (const { completion, status, reason } of failed) {
    const key = `${completion} ${status} ${reason}`.replaceAll(/:\d{4,5}\b/g, "");
    reasons[key] = (reasons[key] ?? 0) + 1;
  }
  return reasons;
}

function countComplaints({ all }: Replicas): Record<string, number> {
  const complaints: Record<string, number> = {};
  for (const { level = "info", message } of all.flatMap((replica) => replica.process.logs)) {
    if (level !== "error" && level !== "warn") continue;
    complaints[`${level}: ${message}`] = (complaints[`${level}: ${message}`] ?? 0) + 1;
  }
  return complaints;
}

function describe({ id, ask, completion, status, reason, replica }: Outcome): string {
  return `${ask.kind} of ${replica}: ${completion} ${status} ${reason} (${id ?? "no id"})`;
}
