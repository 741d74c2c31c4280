import type { ChildProcess } from "node:child_process";
import { parseArgs } from "node:util";
import { table } from "../../packages/testkit/load/report.ts";
import { runSoak, fitSlope, SOAK_KINDS, type Sample } from "../../packages/testkit/load/soak.ts";
import * as start from "../../packages/testkit/load/systems.ts";
import { build } from "../build.ts";
import { ALLOCATOR, NODE_FLAGS } from "../memory.ts";

const MAX_MINUTES = 24 * 60;
const QUICK_SECONDS = 3;
/** Measuring begins after a third of the time, or after ten minutes. */
const WARM_SHARE = 1 / 3;
const MAX_WARM_SECONDS = 600;
const GOAL_MIB = 200;
const GOAL_SLOPE = 1;
/** Rows of the table. */
const PARTS = 12;

/**
 * `npm run bench -- --soak MINUTES`: plain calls, streams, conversions, uploads and sign-ins at once on a gateway with
 * MariaDB and Redis (`--embedded`: with SQLite). Prints its resident memory over time and the slope next to the goals,
 * and writes nothing. `--quick` is a smoke run in which a minute lasts three seconds.
 */
export async function benchSoak(): Promise<void> {
  const { minutes, isQuick, isEmbedded } = parseSettings(process.argv.slice(2));
  const seconds = minutes * (isQuick ? QUICK_SECONDS : 60);
  await build(["gateway"], true);
  const upstream = await start.startScript("upstream.ts");
  const generators: ChildProcess[] = [];
  let system: start.System | undefined;
  try {
    for (const _kind of SOAK_KINDS) generators.push((await start.startScript("generator.ts")).child);
    const launch = { env: ALLOCATOR, nodeArgs: NODE_FLAGS };
    const startFairway = isEmbedded ? start.startFairwaySqlite : start.startFairwayCluster;
    const url = `http://127.0.0.1:${upstream.port}`;
    system = await startFairway(url, launch);
    const soak = { seconds, upstream: url, generators, onSample: progress(seconds) };
    const { samples, good } = await runSoak(system, soak);
    console.log(`\n${system.name}, ${minutes} minute(s)${isQuick ? " of three seconds" : ""}\n`);
    console.log(report(samples, good, seconds));
  } finally {
    await system?.stop();
    for (const generator of generators) generator.disconnect();
    upstream.child.disconnect();
  }
}

interface Settings {
  readonly minutes: number;
  readonly isQuick: boolean;
  readonly isEmbedded: boolean;
}

/** Throws if the argument is not a number of minutes. */
export function parseSettings(args: readonly string[]): Settings {
  const flag = { type: "boolean" } as const;
  // Without a value, the next flag would be taken as the value.
  const at = args.findIndex((argument) => argument === "--soak");
  const hasValue = at < 0 || args[at + 1]?.startsWith("--") === false;
  const { values } = parseArgs({
    args: hasValue ? [...args] : args.toSpliced(at, 1, "--soak="),
    options: { soak: { type: "string" }, quick: flag, embedded: flag },
  });
  const text = values.soak ?? "";
  const minutes = Number(text);
  const isNumber = /^\d+$/.test(text) && minutes >= 1 && minutes <= MAX_MINUTES;
  if (!isNumber)
    throw new Error(
      `--soak needs a whole number of minutes from 1 to ${MAX_MINUTES}, such as --soak 60; ${text === "" ? "none was given" : `"${text}" is none`}`,
    );
  return { minutes, isQuick: values.quick ?? false, isEmbedded: values.embedded ?? false };
}

function progress(seconds: number): (sample: Sample) => void {
  let next = 0;
  return (sample) => {
    if (sample.seconds < next) return;
    next += seconds / PARTS;
    console.log(`${(sample.seconds / 60).toFixed(1)} min: ${sample.residentMib.toFixed(0)} MiB`);
  };
}

function report(samples: readonly Sample[], good: ReadonlyMap<string, number>, seconds: number): string {
  const part = seconds / PARTS;
  const rows = Array.from({ length: PARTS }, (_, at) => {
    const within = samples.filter((sample) => Math.floor(sample.seconds / part) === at);
    const values = within.map(({ residentMib }) => residentMib).toSorted((a, b) => a - b);
    const figures = [values[0], values[Math.floor(values.length / 2)], values.at(-1)];
    return [((part * (at + 1)) / 60).toFixed(1), ...figures.map((value) => value?.toFixed(0) ?? "–")];
  });
  const warm = Math.min(seconds * WARM_SHARE, MAX_WARM_SECONDS);
  const counted = samples.filter((sample) => sample.seconds >= warm);
  const { mibPerHour, error } = fitSlope(counted);
  const most = Math.max(...counted.map(({ residentMib }) => residentMib));
  return [
    ...table(["minutes", "least MiB resident", "median", "most"], rows),
    "",
    `Calls: ${[...good].map(([name, count]) => `${name} ${count.toLocaleString("en")}`).join(", ")}. None failed.`,
    "",
    `After ${(warm / 60).toFixed(1)} minutes to warm up:`,
    "",
    ...table(
      ["", "goal", "measured"],
      [
        ["MiB resident at most", String(GOAL_MIB), most.toFixed(0)],
        ["MiB an hour, least squares", String(GOAL_SLOPE), `${mibPerHour.toFixed(1)} ± ${error.toFixed(1)}`],
      ],
    ),
  ].join("\n");
}
