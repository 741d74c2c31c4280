import { setTimeout as sleep } from "node:timers/promises";
import { readCpu, readMemory } from "../../packages/testkit/load/usage.ts";

const SAMPLE_MS = 50;
const PROBE_MS = 20;
const MEGABYTE = 1_000_000;

/** What one part of a batch's life costs the gateway. */
interface Cost {
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** The most resident memory above that before, in MiB. */
  readonly grownMib: number;
  /** The longest answer to a call that needs nothing, in milliseconds: how long the event loop was held. */
  readonly stalledMs: number;
}

/** The process that is measured. */
interface Measured {
  readonly pid: number;
  readonly url: string;
}

export async function measure<T>({ pid, url }: Measured, work: () => Promise<T>): Promise<[T, Cost]> {
  const [memory, cpu, from] = [readMemory(pid).residentKib, readCpu(pid), performance.now()];
  let most = memory;
  const timer = setInterval(() => (most = Math.max(most, readMemory(pid).residentKib)), SAMPLE_MS);
  const probe = probeLoop(url);
  try {
    const done = await work();
    const seconds = (performance.now() - from) / 1_000;
    const used = { cpuSeconds: (readCpu(pid) - cpu) / 1e6, grownMib: (most - memory) / 1_024 };
    return [done, { seconds, ...used, stalledMs: await probe.end() }];
  } finally {
    clearInterval(timer);
    await probe.end();
  }
}

/** Calls the gateway for nothing, again and again. */
function probeLoop(url: string): { end(): Promise<number> } {
  let isOver = false;
  let longest = 0;
  const run = async () => {
    while (!isOver) {
      const from = performance.now();
      await (await fetch(`${url}/api/status`)).arrayBuffer();
      longest = Math.max(longest, performance.now() - from);
      await sleep(PROBE_MS);
    }
  };
  const running = run();
  return {
    async end() {
      isOver = true;
      await running;
      return longest;
    },
  };
}

/** The limits of the goals; a part without one has no such limit. */
interface Goal {
  readonly megabytesPerCpuSecond?: number;
  readonly cpuSeconds?: number;
  readonly grownMib?: number;
  readonly stalledMs?: number;
}

export const HEADINGS = [
  "Of a batch",
  "requests a second",
  "MB a second",
  "CPU s",
  "MB a second of CPU",
  "memory above before, MiB",
  "longest stall, ms",
  "goal",
];

interface Part extends Cost {
  readonly name: string;
  readonly items: number;
  readonly bytes: number;
  readonly goal: Goal;
}

export function describe({ name, items, bytes, goal, ...cost }: Part): string[] {
  const { seconds, cpuSeconds, grownMib, stalledMs } = cost;
  const megabytes = bytes / MEGABYTE;
  const rates = [items / seconds, megabytes / seconds].map((rate) => rate.toFixed(rate < 10 ? 1 : 0));
  const perCpu = cpuSeconds === 0 ? "" : (megabytes / cpuSeconds).toFixed(0);
  const missed = listMissed({ ...cost, megabytesPerCpuSecond: megabytes / cpuSeconds }, goal);
  return [
    name,
    ...rates,
    cpuSeconds.toFixed(1),
    perCpu,
    grownMib.toFixed(0),
    stalledMs.toFixed(0),
    missed.length === 0 ? "met" : missed.join(", "),
  ];
}

function listMissed(found: Cost & { readonly megabytesPerCpuSecond: number }, goal: Goal): string[] {
  const { megabytesPerCpuSecond: rate = 0, cpuSeconds = Infinity, grownMib = Infinity, stalledMs = Infinity } = goal;
  return [
    ...(found.megabytesPerCpuSecond < rate ? [`under ${rate} MB a second of CPU`] : []),
    ...(found.cpuSeconds > cpuSeconds ? [`over ${cpuSeconds} s of CPU`] : []),
    ...(found.grownMib > grownMib ? [`over ${grownMib} MiB`] : []),
    ...(found.stalledMs > stalledMs ? [`stalled over ${stalledMs} ms`] : []),
  ];
}
