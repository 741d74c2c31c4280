import { parseArgs } from "node:util";
import type { Job } from "../../packages/testkit/load/generator.ts";
import { ask, measureCpu, type Cpu } from "../../packages/testkit/load/measure.ts";
import { median } from "../../packages/testkit/load/streams/plan.ts";
import * as start from "../../packages/testkit/load/systems.ts";
import { build } from "../build.ts";
import { ALLOCATOR, NODE_FLAGS } from "../memory.ts";

const SECONDS = 4;
const WARM_SECONDS = 15;
const CONNECTIONS = 32;
const ROUNDS = "7";

/** One round of one system; times nginx in the same round. */
interface Round {
  readonly cpu: Cpu;
  readonly times: number;
  readonly timesWithStores: number;
}

/**
 * `npm run bench -- --plain`: what a plain call costs, each round next to nginx in the same seconds, so that a machine
 * whose speed changes changes both. Prints the medians of `--rounds=7` in five minutes and writes nothing; `--quick` is
 * a smoke run.
 */
export async function benchPlain(): Promise<void> {
  const flag = { type: "boolean" } as const;
  const options = { plain: flag, quick: flag, rounds: { type: "string", default: ROUNDS } } as const;
  const { values } = parseArgs({ options });
  await build(["gateway"], true);
  const upstream = await start.startScript("upstream.ts");
  const generator = await start.startScript("generator.ts");
  const url = `http://127.0.0.1:${upstream.port}`;
  const launch = { env: ALLOCATOR, nodeArgs: NODE_FLAGS };
  const systems = [
    await start.startNginx(upstream.port),
    await start.startBare(url),
    await start.startFairwaySqlite(url, launch),
    await start.startFairwayCluster(url, launch),
  ];
  const bystanders = [generator.child, upstream.child];
  const measured = (system: start.System) =>
    measureCpu(system, bystanders, () => ask(generator.child, jobOf(system, values.quick ? 1 : SECONDS)));
  try {
    for (const system of systems) await ask(generator.child, jobOf(system, values.quick ? 1 : WARM_SECONDS));
    const rounds = new Map<string, Round[]>(systems.map(({ name }) => [name, []]));
    for (let round = 0; round < (values.quick ? 1 : Number(values.rounds)); round++) {
      let limit = 0;
      for (const system of systems) {
        const { cpu, result } = await measured(system);
        if (result.failed > 0)
          throw new Error(`${result.failed} calls of ${system.name} failed: ${result.firstFailure}`);
        limit ||= cpu.gateway;
        const all = cpu.gateway + cpu.database + cpu.redis;
        rounds.get(system.name)?.push({ cpu, times: cpu.gateway / limit, timesWithStores: all / limit });
      }
    }
    console.log(tableOf(rounds));
  } finally {
    for (const system of systems.toReversed()) await system.stop();
    generator.child.disconnect();
    upstream.child.disconnect();
  }
}

function jobOf({ port, key }: start.System, seconds: number): Job {
  const load = { kind: "closed", connections: CONNECTIONS, seconds } as const;
  return { port, key, model: "bench-plain", isStream: false, load };
}

function tableOf(rounds: ReadonlyMap<string, readonly Round[]>): string {
  return [
    "| system | us a call | database | Redis | times nginx | with the stores |",
    "| --- | ---: | ---: | ---: | ---: | ---: |",
    ...[...rounds].map(([name, of]) => {
      const figure = (pick: (round: Round) => number, digits: number) => median(of.map(pick)).toFixed(digits);
      const us = [
        figure(({ cpu }) => cpu.gateway, 0),
        figure(({ cpu }) => cpu.database, 0),
        figure(({ cpu }) => cpu.redis, 0),
      ];
      return `| ${[name, ...us, figure(({ times }) => times, 1), figure((round) => round.timesWithStores, 1)].join(" | ")} |`;
    }),
  ].join("\n");
}
