// `npm run bench`: what Fairway costs next to nginx (the limit), bare Node and express + fetch (the habit), with the fake upstream
// and the load generator as processes of their own. Writes docs/reference/bench.md; takes about 20 minutes.
// `--rounds=N` takes fewer or more than three rounds. `--quick` is a smoke run of a minute that writes nothing. `--without-fairway` measures the yardsticks alone.
// `--streams` measures conversions and long streams alone and renews their section. `--api` measures the management API at size instead: api.ts. `--ledger` measures the ledger alone, with and without rows: ledger.ts. `--logs` measures questions to the log at 10,000,000 rows: logs.ts. `--growth` measures what many channels and tokens cost: growth.ts.
// `--allocations` counts the bytes that a call allocates: allocations.ts; `--collector` measures what garbage collection costs a call: collector.ts; `--plain`, `--at-once` and `--spaced` measure one kind of call alone, round by round next to nginx: plain.ts; `--budgets` measures what three budgets add to plain calls: budgets.ts; `--batches` measures a batch of 50,000 requests: batches.ts; `--strategies` compares how channels are chosen: strategies.ts; `--outage` measures calls while Redis is away: outage.ts; `--profile` which parts of the program spend it: profile.ts; `--console` measures the web console: console.ts; `--soak MINUTES` watches memory under mixed load: soak.ts.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { benchDocument } from "../../packages/testkit/load/report.ts";
import { runBench, type Plan } from "../../packages/testkit/load/run.ts";
import type { StreamPlan } from "../../packages/testkit/load/streams/plan.ts";
import { runStreams } from "../../packages/testkit/load/streams/streams.ts";
import { streamsSection, withStreams } from "../../packages/testkit/load/streams/report.ts";
import * as start from "../../packages/testkit/load/systems.ts";
import { ROOT } from "../bootstrap.mjs";
import { benchAllocations } from "./allocations.ts";
import { benchApi } from "./api.ts";
import { benchBatches } from "./batches.ts";
import { benchBudgets } from "./budgets.ts";
import { benchCli, benchUi } from "./cli.ts";
import { benchCollector } from "./collector.ts";
import { benchConsole } from "./console.ts";
import { benchLogs } from "./logs.ts";
import { benchOutage } from "./outage.ts";
import { benchPlain } from "./plain.ts";
import { benchProfile } from "./profile.ts";
import { benchGrowth } from "./growth.ts";
import { benchLedgers } from "./ledger.ts";
import { benchSoak } from "./soak.ts";
import { benchStrategies } from "./strategies.ts";
import { build } from "../build.ts";
import { ALLOCATOR, NODE_FLAGS } from "../memory.ts";
import { main } from "../process.ts";

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

const isQuick = process.argv.includes("--quick");
const rounds = Number(/^--rounds=(\d+)$/m.exec(process.argv.join("\n"))?.[1] ?? FULL.rounds);
const plan = isQuick ? QUICK : { ...FULL, rounds };
const hasFairway = !process.argv.includes("--without-fairway");
const PAGE = join(ROOT, "docs/reference/bench.md");

/** By the flag that requests it. */
const MODES = [
  ["--api", benchApi],
  ["--cli", benchCli],
  ["--ui", benchUi],
  ["--ledger", benchLedgers],
  ["--logs", benchLogs],
  ["--growth", benchGrowth],
  ["--streams", benchStreams],
  ["--allocations", benchAllocations],
  ["--collector", benchCollector],
  ["--profile", benchProfile],
  ["--plain", benchPlain],
  ["--budgets", benchBudgets],
  ["--batches", benchBatches],
  ["--strategies", benchStrategies],
  ["--outage", benchOutage],
  ["--at-once", benchPlain],
  ["--spaced", benchPlain],
  ["--console", benchConsole],
  ["--soak", benchSoak],
] as const;

await main(
  MODES.find(([flag]) => process.argv.some((word) => word === flag || word.startsWith(`${flag}=`)))?.[1] ?? benchCalls,
);

async function benchStreams(): Promise<void> {
  await build(["gateway"], true);
  const section = await measureStreams();
  console.log(`\n${section}`);
  if (!isQuick) await writeFile(PAGE, withStreams(await readFile(PAGE, "utf8"), section));
}

async function measureStreams(): Promise<string> {
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

async function benchCalls(): Promise<void> {
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
    const document = hasFairway ? withStreams(calls, await measureStreams()) : calls;
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
