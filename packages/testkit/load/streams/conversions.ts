import type { Job } from "../generator.ts";
import { ask, measureCpu } from "../measure.ts";
import { CLIENTS, median, type StreamBench } from "./plan.ts";
import type { System } from "../systems.ts";

/** The same upstream stream as one kind of client gets it. */
export interface ConversionCost {
  readonly name: string;
  /** Microseconds of the gateway per stream, by load; medians. */
  readonly cpu: Readonly<Record<string, number>>;
  /** A multiple of the cost of the unconverted stream in the same round, by load; medians. */
  readonly ratio: Readonly<Record<string, number>>;
}

export const STREAM_LOADS = [
  { name: "at once", model: "bench-51-0", connections: 16 },
  { name: "10 ms", model: "bench-51-10", connections: 100 },
] as const;

/** Clients take turns inside each round, so that a busy second affects all of them. */
export async function measureConversions(system: System, bench: StreamBench): Promise<ConversionCost[]> {
  const runs = new Map<string, number[]>();
  for (let round = 0; round <= bench.plan.rounds; round++) {
    bench.say(round === 0 ? "conversions: warming up" : `conversions: round ${round} of ${bench.plan.rounds}`);
    for (const load of round === 0 ? STREAM_LOADS.slice(0, 1) : STREAM_LOADS) {
      for (const { client, name } of CLIENTS) {
        const used = await gatewayCpu(system, bench, { ...load, client });
        if (round > 0) runs.set(`${name} ${load.name}`, [...(runs.get(`${name} ${load.name}`) ?? []), used]);
      }
    }
  }
  return CLIENTS.map(({ name }) => calculateCost(name, runs));
}

async function gatewayCpu(
  system: System,
  { plan, generator, bystanders }: StreamBench,
  load: Pick<Job, "model" | "client"> & { readonly connections: number },
): Promise<number> {
  const { model, client, connections } = load;
  const job: Job = {
    port: system.port,
    key: system.key,
    model,
    isStream: true,
    ...(client !== undefined && { client }),
    load: { kind: "closed", connections, seconds: plan.seconds },
  };
  const { cpu, result } = await measureCpu(system, bystanders, () => ask(generator, job));
  if (result.failed > 0) throw new Error(`${result.failed} streams of ${client} failed: ${result.firstFailure}`);
  return cpu.gateway;
}

function calculateCost(name: string, runs: ReadonlyMap<string, readonly number[]>): ConversionCost {
  const base = CLIENTS[0]?.name ?? "";
  const cpu: Record<string, number> = {};
  const ratio: Record<string, number> = {};
  for (const load of STREAM_LOADS) {
    const own = runs.get(`${name} ${load.name}`) ?? [];
    const passed = runs.get(`${base} ${load.name}`) ?? [];
    cpu[load.name] = median(own);
    ratio[load.name] = median(own.map((value, round) => value / (passed[round] ?? Number.NaN)));
  }
  return { name, cpu, ratio };
}
