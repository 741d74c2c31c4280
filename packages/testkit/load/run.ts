import type { ChildProcess } from "node:child_process";
import type { Job, Result } from "./generator.ts";
import { ask, measureCpu, measureMemory, type Cpu, type Memory } from "./measure.ts";
import type { System } from "./systems.ts";
import { readMemory } from "./usage.ts";

export interface Plan {
  readonly rounds: number;
  readonly seconds: number;
  /** Warm-up time of each load, before anything counts. */
  readonly warmUpSeconds: number;
  /** Number of requests of an open-loop run. */
  readonly samples: number;
  readonly rates: readonly number[];
  /** Streams held open for the memory figures. */
  readonly streams: number;
  readonly holdModel: string;
}

interface Latency {
  readonly p50: number;
  readonly p99: number;
}

/** Everything measured of one system; medians over the rounds. */
export interface Figures {
  readonly name: string;
  readonly about: string;
  /** By the name of the load. */
  readonly cpu: Readonly<Record<string, Cpu>>;
  /** Good plain answers per second with 32 connections. */
  readonly plainPerSecond: number;
  /** Milliseconds that the system adds compared with the upstream alone, by requests per second. */
  readonly added: Readonly<Record<number, Latency>>;
  /** Resident memory before the first call. */
  readonly freshMib: number;
  readonly memory: Memory | undefined;
  readonly failed: number;
  readonly firstFailure: string;
  /** The most cores that others used during a run of this system. */
  readonly othersCores: number;
}

export const LOADS = [
  { name: "plain", model: "bench-plain", isStream: false, connections: 32 },
  { name: "stream at once", model: "bench-51-0", isStream: true, connections: 16 },
  { name: "stream, 10 ms", model: "bench-51-10", isStream: true, connections: 100 },
] as const;

interface Bench {
  readonly plan: Plan;
  readonly generator: ChildProcess;
  /** Processes whose CPU time belongs to the bench itself. */
  readonly bystanders: readonly ChildProcess[];
  readonly say: (line: string) => void;
}

class Collected {
  readonly cpu = new Map<string, Cpu[]>();
  readonly latency = new Map<number, Latency[]>();
  readonly rates: number[] = [];
  freshMib = 0;
  memory: Memory | undefined;
  failed = 0;
  firstFailure = "";
  othersCores = 0;

  note(result: Result): void {
    this.failed += result.failed;
    this.firstFailure ||= result.firstFailure;
  }
}

/** Runs the systems in turn, round after round, so that a busy minute affects all of them. */
export async function runBench(systems: readonly System[], direct: System, bench: Bench): Promise<Figures[]> {
  const all = new Map([direct, ...systems].map((system) => [system, new Collected()]));
  for (const [system, into] of all) {
    bench.say(`warming up: ${system.name}`);
    if (system !== direct) into.freshMib = readMemory(system.gatewayPid).residentKib / 1024;
    await warmUp(system, into, bench);
  }
  for (let round = 1; round <= bench.plan.rounds; round++) {
    for (const [system, into] of all) {
      bench.say(`round ${round} of ${bench.plan.rounds}: ${system.name}`);
      if (system !== direct) await cpuRuns(system, into, bench);
      await latencyRuns(system, into, bench);
    }
  }
  for (const system of systems) await memoryRun(system, all.get(system) ?? new Collected(), bench);
  const base = all.get(direct) ?? new Collected();
  return systems.map((system) => calculateFigures(system, all.get(system) ?? new Collected(), base));
}

/**
 * Lets the compilers finish before anything counts; its calls must succeed all the same. A Node process spends a fifth
 * of its time or more on compilers and garbage collection until about 20,000 calls are done, and a twentieth after
 * 50,000.
 */
async function warmUp(system: System, into: Collected, { plan, generator }: Bench): Promise<void> {
  for (const { connections, model, isStream } of LOADS) {
    const load = { kind: "closed", connections, seconds: plan.warmUpSeconds } as const;
    into.note(await ask(generator, { ...target(system), model, isStream, load }));
  }
}

async function cpuRuns(system: System, into: Collected, { plan, generator, bystanders }: Bench): Promise<void> {
  for (const { name, connections, ...load } of LOADS) {
    const job: Job = { ...target(system), ...load, load: { kind: "closed", connections, seconds: plan.seconds } };
    const run = await measureCpu(system, bystanders, () => ask(generator, job));
    into.note(run.result);
    into.cpu.set(name, [...(into.cpu.get(name) ?? []), run.cpu]);
    into.othersCores = Math.max(into.othersCores, run.othersCores);
    if (name === "plain") into.rates.push(run.result.good / run.result.seconds);
  }
}

async function latencyRuns(system: System, into: Collected, { plan, generator }: Bench): Promise<void> {
  for (const perSecond of plan.rates) {
    const load = { kind: "open", perSecond, samples: plan.samples } as const;
    const result = await ask(generator, { ...target(system), model: "bench-plain", isStream: false, load });
    into.note(result);
    into.latency.set(perSecond, [...(into.latency.get(perSecond) ?? []), { p50: result.p50, p99: result.p99 }]);
  }
}

async function memoryRun(system: System, into: Collected, { plan, generator, say }: Bench): Promise<void> {
  say(`${plan.streams} open streams: ${system.name}`);
  const load = { kind: "hold", streams: plan.streams, openWithinMs: 2_000 } as const;
  const job: Job = { ...target(system), model: plan.holdModel, isStream: true, load };
  into.memory = await measureMemory(system, plan.streams, () => ask(generator, job));
  into.note(into.memory.result);
}

function target(system: System): Pick<Job, "port" | "key"> {
  return { port: system.port, key: system.key };
}

function calculateFigures(system: System, from: Collected, base: Collected): Figures {
  const cpu = [...from.cpu].map(([name, runs]) => [
    name,
    {
      gateway: median(runs.map((run) => run.gateway)),
      database: median(runs.map((run) => run.database)),
      redis: median(runs.map((run) => run.redis)),
    },
  ]);
  const added = [...from.latency].map(([rate, runs]) => [
    rate,
    {
      p50: median(runs.map((run) => run.p50)) - median((base.latency.get(rate) ?? []).map((run) => run.p50)),
      p99: median(runs.map((run) => run.p99)) - median((base.latency.get(rate) ?? []).map((run) => run.p99)),
    },
  ]);
  return {
    name: system.name,
    about: system.about,
    cpu: Object.fromEntries(cpu) as Figures["cpu"],
    plainPerSecond: median(from.rates),
    added: Object.fromEntries(added) as Figures["added"],
    freshMib: from.freshMib,
    memory: from.memory,
    failed: from.failed,
    firstFailure: from.firstFailure,
    othersCores: from.othersCores,
  };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
