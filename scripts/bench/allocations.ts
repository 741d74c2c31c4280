import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { Inspector, type Allocation } from "../../packages/testkit/load/inspector.ts";
import { ask } from "../../packages/testkit/load/measure.ts";
import { median } from "../../packages/testkit/load/streams/plan.ts";
import * as start from "../../packages/testkit/load/systems.ts";
import { freePort } from "../../packages/testkit/src/index.ts";
import { build } from "../build.ts";
import { ALLOCATOR, NODE_FLAGS } from "../memory.ts";
import { buildJob, selectLoad } from "./plain.ts";
import { createFunctions, requireNoFailures } from "./profile.ts";

const SECONDS = 4;
/** Until then the compilers are still at work, and allocate objects that they avoid later. */
const WARM_CALLS = 30_000;
const ROUNDS = 5;
/** Functions below this number of bytes for each call are reported together. */
const LEAST_BYTES = 100;

/** Runs calls for some seconds and returns their number. */
type Run = (seconds: number) => Promise<number>;

/**
 * `npm run bench -- --allocations`: how many bytes of the engine's heap a plain call allocates, 32 at once, compilers
 * at rest. Unlike CPU time, this hardly depends on the machine and on what else it does. Prints a row for each system
 * in two minutes and writes nothing; `--quick` is a smoke run. `--embedded` leaves out MariaDB and Redis, `--at-once`
 * and `--spaced` measure streams, `--functions` lists the functions that allocate, and `--against=FILE` measures another
 * build of the gateway as well (`packages/gateway/dist/main.mjs` of another checkout).
 */
export async function benchAllocations(): Promise<void> {
  const flag = { type: "boolean" } as const;
  const { values } = parseArgs({
    options: {
      allocations: flag,
      quick: flag,
      embedded: flag,
      "at-once": flag,
      spaced: flag,
      functions: flag,
      against: { type: "string" },
    },
  });
  await build(["gateway"], true);
  const upstream = await start.startScript("upstream.ts");
  const generator = await start.startScript("generator.ts");
  const load = selectLoad(values);
  console.log("| system | KB a call |\n| --- | ---: |");
  try {
    for (const { program, startSystem } of listSystems(values)) {
      const inspectPort = await freePort();
      const system = await startSystem(`http://127.0.0.1:${upstream.port}`, inspectPort);
      const run: Run = async (seconds) => {
        const job = buildJob(system, load, values.quick ? 1 : seconds);
        return requireNoFailures(await ask(generator.child, job));
      };
      try {
        const inspector = await Inspector.connect(inspectPort);
        console.log(`| ${system.name} | ${((await countBytes(inspector, run, values)) / 1000).toFixed(1)} |`);
        if (values.functions) console.log(`\n${await listFunctions(inspector, run, program)}\n`);
        inspector.close();
      } finally {
        await system.stop();
      }
    }
  } finally {
    generator.child.disconnect();
    upstream.child.disconnect();
  }
}

function listSystems({ against, embedded }: { readonly against?: string; readonly embedded?: boolean }) {
  // An older build refuses variables that it does not know.
  const other = { env: { ...ALLOCATOR, FAIRWAY_FIRST_RETRIES: undefined }, nameSuffix: ", other build" };
  const builds = [
    { program: start.BUNDLE, env: ALLOCATOR },
    ...(against === undefined ? [] : [{ program: resolve(against), ...other }]),
  ];
  const starts = embedded ? [start.startFairwaySqlite] : [start.startFairwaySqlite, start.startFairwayCluster];
  return starts.flatMap((startFairway) =>
    builds.map((launch) => ({
      program: launch.program,
      startSystem: (upstream: string, inspectPort: number) =>
        startFairway(upstream, { ...launch, nodeArgs: [...NODE_FLAGS, `--inspect=127.0.0.1:${inspectPort}`] }),
    })),
  );
}

async function countBytes(inspector: Inspector, run: Run, { quick }: { readonly quick?: boolean }): Promise<number> {
  for (let calls = 0; calls < (quick ? 1 : WARM_CALLS);) calls += await run(SECONDS);
  const rounds: number[] = [];
  for (let round = 0; round < (quick ? 1 : ROUNDS); round++) {
    const before = await inspector.allocatedBytes();
    const calls = await run(SECONDS);
    rounds.push(((await inspector.allocatedBytes()) - before) / calls);
  }
  return median(rounds);
}

async function listFunctions(inspector: Inspector, run: Run, program: string): Promise<string> {
  let calls = 0;
  const allocations = await inspector.sampleAllocations(async () => (calls = await run(SECONDS)));
  const findOwner = createFindOwner(program);
  const bytes = new Map<string, number>();
  for (const allocation of allocations) {
    const owner = findOwner(allocation);
    bytes.set(owner, (bytes.get(owner) ?? 0) + allocation.bytes / calls);
  }
  const large = [...bytes].filter(([, each]) => each >= LEAST_BYTES);
  const total = [...bytes.values()].reduce((sum, each) => sum + each, 0);
  const small = total - large.reduce((sum, [, each]) => sum + each, 0);
  const rows = large.toSorted(([, one], [, next]) => next - one);
  return [
    "| function | bytes a call |",
    "| --- | ---: |",
    ...[...rows, ["all others", small] as const].map(([name, each]) => `| ${name} | ${each.toFixed(0)} |`),
  ].join("\n");
}

/**
 * Finds the function of this program that an allocation belongs to: what Node and packages allocate counts for the
 * function that called them, or for themselves if none did.
 */
function createFindOwner(program: string): (allocation: Allocation) => string {
  const findFunction = createFunctions(program);
  const names = new Map<string, string>();
  return ({ stack }) => {
    for (const call of stack) {
      const key = `${call.functionName} ${call.url} ${call.lineNumber}:${call.columnNumber}`;
      const name = names.get(key) ?? findFunction(call) ?? "";
      names.set(key, name);
      if (/ src\//.test(name)) return name;
    }
    const [innermost] = stack;
    return innermost === undefined ? "" : `${innermost.functionName} ${innermost.url.replace(/^file:.*\//, "")}`;
  };
}
