import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Job, Result } from "../../packages/testkit/load/generator.ts";
import { ask, measureCpu, type Cpu } from "../../packages/testkit/load/measure.ts";
import * as start from "../../packages/testkit/load/systems.ts";
import { build } from "../build.ts";
import { ALLOCATOR, NODE_FLAGS } from "../memory.ts";

const SECONDS = 10;
const WARM_SECONDS = 5;
/** Longer than a failed call of Redis counts as an outage, and than a charge waits for the database. */
const SETTLE_MS = 8_000;
const CONNECTIONS = 16;
const MODES = ["deny", "sql"] as const;

interface Phase {
  readonly cpu: Cpu;
  readonly result: Result;
}

/**
 * `npm run bench -- --outage`: what a call costs while Redis is away, with each value of FAIRWAY_QUOTA_ON_OUTAGE: the
 * share that is refused, and the processor time of gateway and database. All calls are of one account, whose row they
 * all change: the most that accounts can disturb each other. Prints a table and writes nothing; `--quick` is a smoke
 * run.
 */
export async function benchOutage(): Promise<void> {
  const flag = { type: "boolean" } as const;
  const { values } = parseArgs({ options: { outage: flag, quick: flag } });
  const seconds = values.quick ? 1 : SECONDS;
  await build(["gateway"], true);
  const upstream = await start.startScript("upstream.ts");
  const generator = await start.startScript("generator.ts");
  const rows: string[] = [];
  try {
    for (const mode of MODES) {
      const env = { ...ALLOCATOR, FAIRWAY_QUOTA_ON_OUTAGE: mode };
      const system = await start.startFairwayCluster(`http://127.0.0.1:${upstream.port}`, {
        env,
        nodeArgs: NODE_FLAGS,
      });
      const measured = (seen: start.System, length: number) =>
        measureCpu(seen, [generator.child, upstream.child], () => ask(generator.child, buildJob(seen, length)));
      try {
        await measured(system, values.quick ? 1 : WARM_SECONDS);
        rows.push(formatRow(mode, "there", await measured(system, seconds)));
        rows.push(formatRow(mode, "away", await measureWithoutRedis(system, (seen) => measured(seen, seconds))));
      } finally {
        await system.stop();
      }
    }
  } finally {
    generator.child.disconnect();
    upstream.child.disconnect();
  }
  console.log([...HEAD, ...rows].join("\n"));
}

function buildJob({ port, key }: start.System, seconds: number): Job {
  const load = { kind: "closed", connections: CONNECTIONS, seconds } as const;
  return { port, key, model: "bench-plain", isStream: false, load };
}

async function measureWithoutRedis(
  system: start.System,
  measure: (seen: start.System) => Promise<Phase>,
): Promise<Phase> {
  const { redisPid, ...rest } = system;
  if (redisPid !== undefined) process.kill(redisPid, "SIGKILL");
  await sleep(SETTLE_MS);
  return measure(rest);
}

const HEAD = [
  "| mode | Redis | calls | refused | us of the gateway a call | us of the database | us of Redis | ms, median | ms, 99 % |",
  "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
];

function formatRow(mode: string, redis: string, { cpu, result }: Phase): string {
  const { good, failed, p50, p99 } = result;
  const share = `${((100 * failed) / Math.max(1, good + failed)).toFixed(0)} %`;
  const us = [cpu.gateway, cpu.database, cpu.redis].map((part) => (good === 0 ? "–" : part.toFixed(0)));
  const ms = [p50, p99].map((part) => (good === 0 ? "–" : part.toFixed(1)));
  return `| ${[mode, redis, good + failed, share, ...us, ...ms].join(" | ")} |`;
}
