import { readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { parseArgs } from "node:util";
import type { Result } from "../../packages/testkit/load/generator.ts";
import { Inspector, type ProfiledCall } from "../../packages/testkit/load/inspector.ts";
import { ask } from "../../packages/testkit/load/measure.ts";
import * as start from "../../packages/testkit/load/systems.ts";
import { signIn } from "../../packages/testkit/src/api.ts";
import { freePort } from "../../packages/testkit/src/index.ts";
import { build } from "../build.ts";
import { ALLOCATOR, NODE_FLAGS } from "../memory.ts";
import { createBudgets } from "./budgets.ts";
import { buildJob, selectLoad } from "./plain.ts";

const SECONDS = 10;
const WARM_SECONDS = 15;
/** Parts below this share are reported together. */
const LEAST_SHARE = 0.005;

/**
 * `npm run bench -- --profile`: which part of the program, of Node and of its packages the main thread spends a plain
 * call in, with MariaDB and Redis, 32 at once. Prints a table in half a minute and writes nothing; `--quick` is a smoke
 * run of seconds. `--at-once` and `--spaced` look at streams instead, `--embedded` at the embedded database,
 * `--functions` at single functions, `--budgets` at calls that count in three budgets.
 */
export async function benchProfile(): Promise<void> {
  const flag = { type: "boolean" } as const;
  const { values } = parseArgs({
    options: {
      profile: flag,
      quick: flag,
      "at-once": flag,
      spaced: flag,
      embedded: flag,
      functions: flag,
      budgets: flag,
    },
  });
  await build(["gateway"], true);
  const upstream = await start.startScript("upstream.ts");
  const generator = await start.startScript("generator.ts");
  const port = await freePort();
  const launch = { env: ALLOCATOR, nodeArgs: [...NODE_FLAGS, `--inspect=127.0.0.1:${port}`] };
  const startFairway = values.embedded ? start.startFairwaySqlite : start.startFairwayCluster;
  const system = await startFairway(`http://127.0.0.1:${upstream.port}`, launch);
  const kind = selectLoad(values);
  const load = (seconds: number) => ask(generator.child, buildJob(system, kind, values.quick ? 1 : seconds));
  try {
    if (values.budgets) await createBudgets(await signIn(`http://127.0.0.1:${system.port}`));
    requireNoFailures(await load(WARM_SECONDS));
    const inspector = await Inspector.connect(port);
    let calls = 0;
    const spent = await inspector.profile(async () => {
      calls = requireNoFailures(await load(SECONDS));
    });
    inspector.close();
    console.log(formatTable(spent, calls, values.functions ? createFunctions() : createParts()));
  } finally {
    await system.stop();
    generator.child.disconnect();
    upstream.child.disconnect();
  }
}

/** Returns the number of calls of a load; throws if one of them failed. */
export function requireNoFailures({ good, failed, firstFailure }: Result): number {
  if (failed > 0) throw new Error(`${failed} calls failed: ${firstFailure}`);
  return good;
}

/** Returns the part that a place in the code belongs to; undefined while the thread is idle. */
export type FindPart = (call: ProfiledCall) => string | undefined;

function formatTable(spent: ReadonlyMap<ProfiledCall, number>, calls: number, findPart: FindPart): string {
  const parts = new Map<string, number>();
  for (const [call, us] of spent) {
    const part = findPart(call);
    if (part !== undefined) parts.set(part, (parts.get(part) ?? 0) + us);
  }
  const total = [...parts.values()].reduce((sum, us) => sum + us, 0);
  const large = [...parts].filter(([, us]) => us / total >= LEAST_SHARE);
  const small = total - large.reduce((sum, [, us]) => sum + us, 0);
  const rows = large.toSorted(([, one], [, other]) => other - one);
  return [
    `${calls} calls, ${(total / calls).toFixed(0)} us each`,
    "",
    "| part | share | us a call |",
    "| --- | ---: | ---: |",
    ...[...rows, ["all others", small] as const].map(
      ([part, us]) => `| ${part} | ${((100 * us) / total).toFixed(1)} % | ${(us / calls).toFixed(1)} |`,
    ),
  ].join("\n");
}

const WRITES = /^(?:write|writev|writeBuffer|write(?:Latin1|Utf8|Ascii|Ucs2)String|writeString)$/;
const PACKAGE = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//;
const OWN = /^\.\.\/src\/([^/]+)/;

/** States that the engine puts in brackets; undefined while the thread is idle. */
const STATES: ReadonlyMap<string, string | undefined> = new Map([
  ["(idle)", undefined],
  ["(garbage collector)", "collector, main thread"],
  ["(program)", "engine"],
]);

function readMap(bundle = start.BUNDLE): SourceMap {
  return new SourceMap(JSON.parse(readFileSync(`${bundle}.map`, "utf8")) as SourceMapPayload);
}

/** Identifies each function by its name, its file and its line. */
export function createFunctions(bundle?: string): FindPart {
  const map = readMap(bundle);
  return ({ functionName, url, lineNumber, columnNumber }) => {
    if (STATES.has(functionName)) return STATES.get(functionName);
    const entry = map.findEntry(lineNumber, columnNumber);
    const isMapped = url.endsWith("/main.mjs") && "originalSource" in entry;
    const place = isMapped ? `${entry.originalSource.replace(/^(?:\.\.\/)+/, "")}:${entry.originalLine + 1}` : url;
    return `${functionName} ${place}`;
  };
}

/** Identifies parts of the program, of Node and of its packages. */
function createParts(): FindPart {
  const map = readMap();
  return ({ functionName, url, lineNumber, columnNumber }) => {
    if (STATES.has(functionName)) return STATES.get(functionName);
    if (url === "") return WRITES.test(functionName) ? "system calls that write" : "native functions of Node";
    if (url.startsWith("wasm:")) return "undici";
    if (url.startsWith("node:"))
      return /_http|streams|net$|stream_base/.test(url) ? "HTTP and streams of Node" : "Node";
    const entry = map.findEntry(lineNumber, columnNumber);
    return findFilePart(url.endsWith("/main.mjs") && "originalSource" in entry ? entry.originalSource : url);
  };
}

function findFilePart(path: string): string {
  const folder = OWN.exec(path)?.[1];
  return folder === undefined ? (PACKAGE.exec(path)?.[1] ?? "others") : `fairway: ${folder}`;
}
