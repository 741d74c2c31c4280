import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { ROOT } from "../bootstrap.mjs";
import { build } from "../build.ts";
import { startStub } from "./cli-stub.ts";

const PROGRAM = join(ROOT, "packages/cli/dist/fairway.mjs");

interface Figure {
  readonly what: string;
  readonly value: number;
  readonly goal: number;
  readonly unit: string;
}

/**
 * `npm run bench -- --cli`: the cost of the terminal program, against a server that answers at once. `--quick` is a
 * smoke run.
 */
export async function benchCli(): Promise<void> {
  const flag = { type: "boolean" } as const;
  const { values } = parseArgs({ options: { cli: flag, quick: flag } });
  const isQuick = values.quick ?? false;
  const rows = isQuick ? 20_000 : 1_000_000;
  await build(["cli"], true);
  const stub = await startStub({ rows });
  const env = buildEnvironment(stub.url);
  try {
    const figures: Figure[] = [
      { what: "fairway --version", value: await median(["--version"], env, isQuick), goal: 60, unit: "ms" },
      { what: "fairway channel list", value: await median(["channel", "list"], env, isQuick), goal: 120, unit: "ms" },
      {
        what: `log list --limit all, ${rows.toLocaleString("en")} rows`,
        value: await peakMemory(["log", "list", "--limit", "all", "-o", "jsonl"], env),
        goal: 120,
        unit: "MB",
      },
      {
        what: "fairway top --interval 1",
        value: (await watch(["top", "--interval", "1"], "calls/min", { env, seconds: isQuick ? 3 : 30 })).share,
        goal: 2,
        unit: "% of a core",
      },
    ];
    print(figures);
  } finally {
    stub.stop();
  }
}

/**
 * `npm run bench -- --ui --seconds=600`: the browser with 1,000 channels, and with a log that grows by 200 rows a
 * second.
 */
export async function benchUi(): Promise<void> {
  const flag = { type: "boolean" } as const;
  const options = { ui: flag, quick: flag, seconds: { type: "string" } } as const;
  const { values } = parseArgs({ options });
  const seconds = Number(values.seconds ?? (values.quick ? 3 : 60));
  await build(["cli"], true);
  const stub = await startStub({ rows: 0, channels: 1_000, rowsPerSecond: 200 });
  const env = buildEnvironment(stub.url);
  try {
    for (const [words, text, what] of [
      [["ui"], "openai-1", "fairway ui, 1,000 channels"],
      [["ui", "logs"], "gpt-4o", "fairway ui logs, 200 rows/s"],
    ] as const) {
      const { share, megabytes } = await watch(words, text, { env, seconds, keys: "jjjjkk" });
      print([
        { what, value: share, goal: 8, unit: "% of a core" },
        { what: `${what}, memory`, value: megabytes, goal: 150, unit: "MB" },
      ]);
    }
  } finally {
    stub.stop();
  }
}

function print(figures: readonly Figure[]): void {
  for (const { what, value, goal, unit } of figures)
    console.log(
      `${what.padEnd(42)} ${value.toFixed(1).padStart(7)} ${unit}  goal ${goal}  ${value <= goal ? "ok" : "MISSED"}`,
    );
}

function buildEnvironment(server: string): NodeJS.ProcessEnv {
  // If `CI` is set, Ink draws only its last frame.
  return { ...process.env, CI: "false", FAIRWAY_SERVER: server, FAIRWAY_TOKEN: "t", FAIRWAY_CONFIG: "/dev/null/none" };
}

/** Returns the median of milliseconds from start to end of the process. */
async function median(args: readonly string[], env: NodeJS.ProcessEnv, isQuick: boolean): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < (isQuick ? 3 : 21); run++) {
    const began = performance.now();
    const child = spawn(process.execPath, [PROGRAM, ...args], { env, stdio: "ignore" });
    await ended(child);
    times.push(performance.now() - began);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}

async function ended(child: ChildProcess): Promise<void> {
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`the command ended with ${code}`);
}

/** Returns the peak memory of the process in megabytes, with another process reading its output. */
async function peakMemory(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { env, stdio: ["ignore", "pipe", "inherit"] });
  child.stdout.resume();
  let peak = 0;
  const timer = setInterval(() => (peak = Math.max(peak, readPeakMemory(child.pid))), 50);
  await ended(child);
  clearInterval(timer);
  return peak / 1024;
}

function readPeakMemory(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

interface Watched {
  readonly env: NodeJS.ProcessEnv;
  readonly seconds: number;
  /** Keys that are typed one after the other, a second apart, in a loop. */
  readonly keys?: string;
}

interface Load {
  /** Percent of a core, after the start. */
  readonly share: number;
  /** The peak memory of the process. */
  readonly megabytes: number;
}

/** Measures a screen in a terminal of its own, from the moment at which it shows a text. */
async function watch(words: readonly string[], text: string, { env, seconds, keys = "" }: Watched): Promise<Load> {
  const command = `stty cols 120 rows 40; echo $$; exec '${process.execPath}' '${PROGRAM}' ${words.join(" ")}`;
  const terminal = spawn("script", ["-q", "-f", "-e", "-c", command, "/dev/null"], {
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  let shown = "";
  const remember = (part: Buffer) => (shown += part.toString());
  terminal.stdout.on("data", remember);
  while (!shown.includes(text)) await setTimeout(100);
  const pid = Number(/^(\d+)/.exec(shown)?.[1]);
  terminal.stdout.off("data", remember).resume();
  await setTimeout(2_000);
  const before = readTicks(pid);
  for (let second = 0; second < seconds; second++) {
    if (keys !== "") terminal.stdin.write(keys[second % keys.length] ?? "");
    await setTimeout(1_000);
  }
  const share = (readTicks(pid) - before) / seconds;
  const megabytes = readPeakMemory(pid) / 1024;
  terminal.stdin.write("q");
  await once(terminal, "close");
  return { share, megabytes };
}

/** Returns the CPU time of the process in hundredths of a second. */
function readTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]);
}
