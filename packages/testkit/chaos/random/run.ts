import { Redis } from "ioredis";
import { setTimeout as sleep } from "node:timers/promises";
import { openBooks, readBooks, type Baseline, type Findings } from "../books.ts";
import type { Outcome } from "../client.ts";
import { compareLive, listReserved } from "../live-books.ts";
import { startLoad, type Load } from "../load.ts";
import { pickRoute, until } from "../round.ts";
import { findAction } from "./actions.ts";
import { countReplicas } from "./draw.ts";
import { describeEvent, nameSetting, type Event, type Schedule, type Setting } from "./schedule.ts";
import { openChaosWorld, type ChaosWorld } from "./world.ts";

const PER_SECOND = 8;
const CALM_MS = 1_000;
const SERVED_LIMIT_MS = 60_000;
const AGREED_LIMIT_MS = 90_000;
/** Leases last 60 s, those of budgets 120 s; a sweep follows within 30 s. */
const QUIET_LIMIT_MS = 240_000;

export interface Result {
  /** Empty if the books hold. */
  readonly problems: readonly string[];
  /** Rounds that ran. */
  readonly rounds: number;
  readonly requests: number;
  readonly delivered: number;
  readonly seconds: number;
  /** What the replicas complained about, by message. */
  readonly logs: Readonly<Record<string, readonly object[]>>;
}

interface Course {
  readonly world: ChaosWorld;
  readonly setting: Setting;
  readonly load: Load;
  readonly baseline: Baseline;
  readonly say: (line: string) => void;
}

/** Runs a schedule on servers of its own and compares the history with the books after each round. */
export async function runSchedule(schedule: Schedule, say: (line: string) => void): Promise<Result> {
  const startedAt = performance.now();
  const { setting } = schedule;
  say(`seed ${schedule.seed}: ${nameSetting(setting)}`);
  const hasStandby = schedule.rounds.flat().some(({ action }) => action === "the database fails over");
  const world = await openChaosWorld({ ...setting, count: countReplicas(setting), hasStandby });
  const since = () => `after ${((performance.now() - startedAt) / 1000).toFixed(0)} s`;
  try {
    const baseline = await openBooks(world.database.url);
    say(`  replicas serve ${since()}`);
    const load = startLoad(PER_SECOND, (serial) => pickRoute(world.scene, serial));
    const course = { world, setting, load, baseline, say };
    const problems: string[] = [];
    let rounds = 0;
    try {
      await sleep(CALM_MS);
      for (const events of schedule.rounds) {
        rounds += 1;
        problems.push(...(await runRound(course, events)));
        if (problems.length > 0) break;
      }
    } finally {
      await load.stop();
    }
    say(`  the load ended ${since()}`);
    if (problems.length === 0) problems.push(...(await untilQuiet(course)), ...world.scene.replicas.deaths);
    return {
      problems,
      rounds,
      requests: load.outcomes.length,
      delivered: countDelivered(load.outcomes),
      seconds: Math.round((performance.now() - startedAt) / 1000),
      logs: Object.fromEntries(world.scene.replicas.all.map(({ name, process }) => [name, process.logs])),
    };
  } finally {
    say(`  the books were read ${since()}`);
    await world.stop();
  }
}

async function runRound(course: Course, events: readonly Event[]): Promise<string[]> {
  const { world, load, baseline, setting, say } = course;
  for (const event of events) say(`  ${describeEvent(event)}`);
  const from = performance.now();
  const done = await Promise.allSettled(runEvents(world, events, from));
  const failed = done.flatMap((one, at) =>
    one.status === "rejected" ? [`${events[at]?.action} could not be done: ${String(one.reason)}`] : [],
  );
  const lifted = performance.now();
  const servedMs = await until(SERVED_LIMIT_MS, () =>
    load.outcomes.some(({ completion, startedAt }) => completion === "delivered" && startedAt > lifted),
  );
  await sleep(CALM_MS);
  await load.endedBefore(lifted);
  const ended = [...load.outcomes];
  let found: string[] = [];
  await until(AGREED_LIMIT_MS, async () => {
    found = listFindings((await readBooks(world.database.url, baseline, ended)).findings, setting);
    return found.length === 0;
  });
  return [...failed, ...(Number.isFinite(servedMs) ? [] : ["nothing was served after the faults"]), ...found];
}

/** A fault of a part whose repair takes longer than planned begins after it. */
function runEvents(world: ChaosWorld, events: readonly Event[], from: number): Promise<void>[] {
  const last = new Map<string, Promise<void>>();
  return events.map((event) => {
    const parts = findAction(event.action).parts(event.replica);
    const before = Promise.allSettled(parts.flatMap((part) => last.get(part) ?? []));
    const done = before.then(() => runEvent(world, event, from));
    for (const part of parts) last.set(part, done);
    return done;
  });
}

async function runEvent(world: ChaosWorld, event: Event, from: number): Promise<void> {
  await sleep(Math.max(0, from + event.atMs - performance.now()));
  const repair = await findAction(event.action).begin(world, event.replica);
  await sleep(Math.max(0, from + event.atMs + event.lastsMs - performance.now()));
  await repair();
}

/** With `sql`, a hard budget can be exceeded by what was open when Redis went away; `faults.md` says so. */
const PASSED_BUDGET = /^budget [^ ]+: used \d+ of \d+$/;

function listFindings(findings: Findings, { onOutage }: Setting): string[] {
  return Object.entries(findings).flatMap(([kind, list]: [string, readonly string[]]) =>
    list.filter((one) => onOutage === "deny" || !PASSED_BUDGET.test(one)).map((one) => `${kind}: ${one}`),
  );
}

async function untilQuiet({ world, load, baseline, setting }: Course): Promise<string[]> {
  let found: string[] = [];
  await until(QUIET_LIMIT_MS, async () => {
    const { database, store } = world;
    const live = store
      ? (await compareLive(new Redis(store.server.url), database.url)).findings
      : await listReserved(database.url);
    const books = listFindings((await readBooks(database.url, baseline, load.outcomes)).findings, setting);
    found = [...books, ...live.map((one) => `at the end: ${one}`)];
    return found.length === 0;
  });
  return found;
}

function countDelivered(outcomes: readonly Outcome[]): number {
  return outcomes.filter(({ completion }) => completion === "delivered").length;
}
