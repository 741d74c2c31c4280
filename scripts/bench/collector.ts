import { parseArgs } from "node:util";
import type { Job, Result } from "../../packages/testkit/load/generator.ts";
import { ask } from "../../packages/testkit/load/measure.ts";
import * as start from "../../packages/testkit/load/systems.ts";
import { build } from "../build.ts";
import { ALLOCATOR, NODE_FLAGS } from "../memory.ts";
import { requireNoFailures } from "./profile.ts";

/** One collection of young objects, as the engine traces it. */
interface Collection {
  readonly gc: string;
  /** Milliseconds. */
  readonly pause: number;
  /** Bytes. */
  readonly promoted: number;
  readonly new_space_survived: number;
}

const SECONDS = 4;
/** Until then the compilers are still at work, and more objects survive. */
const WARM_CALLS = 30_000;
const CONNECTIONS = 32;

/**
 * `npm run bench -- --collector`: what the collector does for a plain call, embedded database, 32 at once, compilers at
 * rest (docs/performance/garbage-collection.md). Prints a row in half a minute or more and writes nothing; `--quick` is
 * a smoke run of seconds.
 */
export async function benchCollector(): Promise<void> {
  const flag = { type: "boolean" } as const;
  const { values } = parseArgs({ options: { collector: flag, quick: flag } });
  await build(["gateway"], true);
  const upstream = await start.startScript("upstream.ts");
  const generator = await start.startScript("generator.ts");
  const launch = { env: ALLOCATOR, nodeArgs: [...NODE_FLAGS, "--trace-gc-nvp"] };
  const system = await start.startFairwaySqlite(`http://127.0.0.1:${upstream.port}`, launch);
  const { port, key, logs = [] } = system;
  const load = (seconds: number): Promise<Result> => {
    const job: Job = {
      port,
      key,
      model: "bench-plain",
      isStream: false,
      load: { kind: "closed", connections: CONNECTIONS, seconds },
    };
    return ask(generator.child, job);
  };
  try {
    for (let calls = 0; calls < (values.quick ? 1 : WARM_CALLS);)
      calls += requireNoFailures(await load(values.quick ? 1 : SECONDS));
    const from = logs.length;
    const calls = requireNoFailures(await load(values.quick ? 1 : SECONDS));
    console.log(table(collections(logs.slice(from)), calls));
  } finally {
    await system.stop();
    generator.child.disconnect();
    upstream.child.disconnect();
  }
}

function collections(lines: NonNullable<start.System["logs"]>): Collection[] {
  return lines.flatMap(({ message }) => {
    const trace = / GC: (\{.*\})$/.exec(String(message))?.[1];
    const collection = trace === undefined ? undefined : (JSON.parse(trace) as Collection);
    return collection?.gc === "s" ? [collection] : [];
  });
}

function table(all: readonly Collection[], calls: number): string {
  const perCall = (of: (one: Collection) => number) => all.reduce((sum, one) => sum + of(one), 0) / calls;
  const row = [
    calls,
    all.length,
    (perCall(({ promoted }) => promoted) / 1024).toFixed(1),
    (perCall((one) => one.new_space_survived) / 1024).toFixed(1),
    (perCall(({ pause }) => pause) * 1000).toFixed(0),
  ];
  return [
    "| calls | collections | KB a call grow old | KB a call are copied | us a call the program pauses |",
    "| ---: | ---: | ---: | ---: | ---: |",
    `| ${row.join(" | ")} |`,
  ].join("\n");
}
