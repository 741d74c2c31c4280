import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { benchDocument } from "../../packages/testkit/load/report.ts";
import { runBench, type Plan } from "../../packages/testkit/load/run.ts";
import type { StreamPlan } from "../../packages/testkit/load/streams/plan.ts";
import { runStreams } from "../../packages/testkit/load/streams/streams.ts";
import { streamsSection, withStreams } from "../../packages/testkit/load/streams/report.ts";
import * as start from "../../packages/testkit/load/systems.ts";
import { ROOT } from "../bootstrap.mjs";
import { build } from "../build.ts";
import { ALLOCATOR, NODE_FLAGS } from "../memory.ts";
import { parseRounds } from "./plain.ts";

const QUICK: Plan = {
  rounds: 1,
  seconds: 0.3,
  warmUpSeconds: 0.3,
  samples: 20,
  rates: [50],
  streams: 50,
  holdModel: "bench-20-100",
};
const FULL: Plan = {
  rounds: 3,
  seconds: 4,
  warmUpSeconds: 15,
  samples: 500,
  rates: [50, 200],
  streams: 1_000,
  holdModel: "bench-200-100",
};

const QUICK_STREAMS: StreamPlan = { rounds: 1, seconds: 0.3, longChunks: 5_000, longStreams: 2 };
const FULL_STREAMS: StreamPlan = { rounds: 5, seconds: 2, longChunks: 100_000, longStreams: 4 };

const PAGE = join(ROOT, "docs/reference/bench.md");

function readFlags() {
  const flag = { type: "boolean", default: false } as const;
  const rounds = { type: "string", default: String(FULL.rounds) } as const;
  const options = { streams: flag, quick: flag, "without-fairway": flag, rounds };
  return parseArgs({ options }).values;
}

/**
 * `npm run bench -- --streams`: conversions and long streams. Renews their section of docs/reference/bench.md; `--quick`
 * is a smoke run that writes nothing.
 */
export async function benchStreams(): Promise<void> {
  const { quick: isQuick } = readFlags();
  await build(["gateway"], true);
  const section = await measureStreams(isQuick);
  console.log(`\n${section}`);
  if (!isQuick) await writeFile(PAGE, withStreams(await readFile(PAGE, "utf8"), section));
}

async function measureStreams(isQuick: boolean): Promise<string> {
  const upstream = await start.startScript("upstream.ts");
  const generator = await start.startScript("generator.ts");
  const streamPlan = isQuick ? QUICK_STREAMS : FULL_STREAMS;
  try {
    const figures = await runStreams({
      plan: streamPlan,
      upstream: { url: `http://127.0.0.1:${upstream.port}`, child: upstream.child },
      generator: generator.child,
      bystanders: [generator.child, upstream.child],
      say: console.log,
    });
    return streamsSection(figures, streamPlan, new Date());
  } finally {
    generator.child.disconnect();
    upstream.child.disconnect();
  }
}

/**
 * `npm run bench`: what Fairway costs next to nginx (the limit), bare Node and express + fetch (the habit), with the fake
 * upstream and the load generator as processes of their own. Writes docs/reference/bench.md in 20 minutes. `--rounds=N`
 * takes fewer or more than three rounds, `--quick` is a smoke run of a minute that writes nothing, and
 * `--without-fairway` measures the yardsticks alone.
 */
export async function benchCalls(): Promise<void> {
  const { quick: isQuick, rounds, "without-fairway": isWithout } = readFlags();
  const hasFairway = !isWithout;
  const plan = isQuick ? QUICK : { ...FULL, rounds: parseRounds(rounds) };
  if (hasFairway) await build(["gateway"], true);
  const upstream = await start.startScript("upstream.ts");
  const generator = await start.startScript("generator.ts");
  const url = `http://127.0.0.1:${upstream.port}`;
  const direct = {
    name: "upstream alone",
    about: "",
    port: upstream.port,
    key: "none",
    gatewayPid: 0,
    stop: async () => {},
  };
  const systems: start.System[] = [];
  try {
    systems.push(await start.startNginx(upstream.port), await start.startBare(url), await start.startHabit(url));
    const launch = { env: ALLOCATOR, nodeArgs: NODE_FLAGS };
    if (hasFairway)
      systems.push(await start.startFairwaySqlite(url, launch), await start.startFairwayCluster(url, launch));
    const bystanders = [generator.child, upstream.child];
    const figures = await runBench(systems, direct, { plan, generator: generator.child, bystanders, say: console.log });
    const calls = benchDocument(figures, plan, new Date());
    const document = hasFairway ? withStreams(calls, await measureStreams(isQuick)) : calls;
    console.log(`\n${document}`);
    const broken = figures
      .filter((figure) => figure.failed > 0)
      .map((figure) => `${figure.name}: ${figure.failed} (${figure.firstFailure})`);
    if (broken.length > 0) throw new Error(`calls failed\n${broken.join("\n")}`);
    if (isQuick || !hasFairway) return;
    await mkdir(dirname(PAGE), { recursive: true });
    await writeFile(PAGE, document);
  } finally {
    for (const system of systems.toReversed()) await system.stop();
    generator.child.disconnect();
    upstream.child.disconnect();
  }
}
