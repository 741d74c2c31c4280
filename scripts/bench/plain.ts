import { resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Job } from "../../packages/testkit/load/generator.ts";
import { ask, measureCpu, type Cpu } from "../../packages/testkit/load/measure.ts";
import { LOADS } from "../../packages/testkit/load/run.ts";
import { median } from "../../packages/testkit/load/streams/plan.ts";
import * as start from "../../packages/testkit/load/systems.ts";
import { build } from "../build.ts";
import { ALLOCATOR, NODE_FLAGS } from "../memory.ts";

const SECONDS = 4;
const WARM_SECONDS = 15;
const ROUNDS = "7";
const OTHER_BUILD = ", other build";

export type Load = (typeof LOADS)[number];

/** One round of one system, as a multiple of nginx in the same round. */
interface Round {
  readonly cpu: Cpu;
  readonly times: number;
  readonly timesWithStores: number;
}

/**
 * `npm run bench -- --plain`, `--at-once` or `--spaced`: what one kind of call costs, each round next to nginx in the
 * same seconds, so that a machine whose speed changes changes both. Prints the medians of `--rounds=7` in five minutes
 * and writes nothing; `--quick` is a smoke run. `--embedded` leaves out MariaDB and Redis. `--against=FILE` takes
 * another build of the gateway (`packages/gateway/dist/main.mjs` of another checkout) in turn as well, in every second
 * round before this one, and prints the ratio of the two.
 */
export async function benchPlain(): Promise<void> {
  const flag = { type: "boolean" } as const;
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    options: {
      plain: flag,
      "at-once": flag,
      spaced: flag,
      quick: flag,
      embedded: flag,
      against: text,
      rounds: { ...text, default: ROUNDS },
    },
  });
  const load = selectLoad(values);
  const rounds = values.quick ? 1 : parseRounds(values.rounds);
  await build(["gateway"], true);
  const upstream = await start.startScript("upstream.ts");
  const generator = await start.startScript("generator.ts");
  const systems: start.System[] = [];
  const bystanders = [generator.child, upstream.child];
  const measured = (system: start.System) =>
    measureCpu(system, bystanders, () => ask(generator.child, buildJob(system, load, values.quick ? 1 : SECONDS)));
  try {
    for await (const system of startSystems(upstream.port, values)) systems.push(system);
    for (const system of systems) await ask(generator.child, buildJob(system, load, values.quick ? 1 : WARM_SECONDS));
    const all = new Map<string, Round[]>(systems.map(({ name }) => [name, []]));
    for (let round = 0; round < rounds; round++) {
      let limit = 0;
      for (const system of orderRound(systems, round)) {
        const { cpu, result } = await measured(system);
        if (result.failed > 0)
          throw new Error(`${result.failed} calls of ${system.name} failed: ${result.firstFailure}`);
        limit ||= cpu.gateway;
        const withStores = cpu.gateway + cpu.database + cpu.redis;
        all.get(system.name)?.push({ cpu, times: cpu.gateway / limit, timesWithStores: withStores / limit });
      }
    }
    console.log([formatTable(all), ...comparePairs(all)].join("\n"));
  } finally {
    for (const system of systems.toReversed()) await system.stop();
    generator.child.disconnect();
    upstream.child.disconnect();
  }
}

/** Returns the load that the flags of a command name; defaults to plain calls. */
export function selectLoad(flags: { readonly "at-once"?: boolean; readonly spaced?: boolean }): Load {
  const [plain, atOnce, spaced] = LOADS;
  if (flags.spaced) return spaced;
  return flags["at-once"] ? atOnce : plain;
}

/** Throws for anything but a whole number from 1. */
export function parseRounds(text: string): number {
  const rounds = Number(text);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds=${text} is not a whole number from 1`);
  return rounds;
}

async function* startSystems(
  upstreamPort: number,
  { against, embedded }: { readonly against?: string; readonly embedded?: boolean },
): AsyncGenerator<start.System> {
  const url = `http://127.0.0.1:${upstreamPort}`;
  const launch = { env: ALLOCATOR, nodeArgs: NODE_FLAGS };
  // An older build refuses variables that it does not know.
  const env = { ...ALLOCATOR, FAIRWAY_FIRST_RETRIES: undefined };
  const other =
    against === undefined ? undefined : { ...launch, env, program: resolve(against), nameSuffix: OTHER_BUILD };
  yield await start.startNginx(upstreamPort);
  yield await start.startBare(url);
  yield await start.startFairwaySqlite(url, launch);
  if (other) yield await start.startFairwaySqlite(url, other);
  if (embedded) return;
  yield await start.startFairwayCluster(url, launch);
  if (other) yield await start.startFairwayCluster(url, other);
}

export function buildJob({ port, key }: start.System, { model, isStream, connections }: Load, seconds: number): Job {
  return { port, key, model, isStream, load: { kind: "closed", connections, seconds } };
}

/** Measures the other build first in every second round: what runs later in a round may cost more. */
export function orderRound<System extends { readonly name: string }>(
  systems: readonly System[],
  round: number,
): System[] {
  if (round % 2 === 0) return [...systems];
  const isOther = ({ name }: System) => name.endsWith(OTHER_BUILD);
  return systems.flatMap((system, at) => {
    const next = systems[at + 1];
    if (isOther(system)) return [];
    return next && isOther(next) ? [next, system] : [system];
  });
}

/** Returns a line for each system that another build of it was measured next to. */
function comparePairs(rounds: ReadonlyMap<string, readonly Round[]>): string[] {
  const pairs = [...rounds].flatMap(([name, mine]) => {
    const others = rounds.get(`${name}${OTHER_BUILD}`);
    return others ? [{ name, ratios: mine.map(({ cpu }, at) => cpu.gateway / (others[at]?.cpu.gateway ?? NaN)) }] : [];
  });
  return pairs.map(({ name, ratios }) => {
    const [least, middle, most] = [Math.min(...ratios), median(ratios), Math.max(...ratios)].map((one) =>
      one.toFixed(2),
    );
    return `\n${name}: ${middle} times the other build, round by round (${least} to ${most})`;
  });
}

function formatTable(rounds: ReadonlyMap<string, readonly Round[]>): string {
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
