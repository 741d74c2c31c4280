import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { ROOT } from "../bootstrap.mjs";
import { build } from "../build.ts";

const PROGRAM = join(ROOT, "packages/cli/dist/fairway.mjs");

interface Figure {
  readonly what: string;
  readonly value: number;
  readonly goal: number;
  readonly unit: string;
}

/** `npm run bench -- --cli`: what the terminal program costs, against a server that answers at once. `--quick` is a smoke run. */
export async function benchCli(): Promise<void> {
  const flag = { type: "boolean" } as const;
  const { values } = parseArgs({ options: { cli: flag, quick: flag } });
  const isQuick = values.quick ?? false;
  const rows = isQuick ? 20_000 : 1_000_000;
  await build(["cli"], true);
  const stub = await startStub(rows);
  // Ink draws nothing but its last frame where this is set.
  const env = {
    ...process.env,
    CI: "false",
    FAIRWAY_SERVER: stub.url,
    FAIRWAY_TOKEN: "t",
    FAIRWAY_CONFIG: "/dev/null/none",
  };
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
        value: await processorShare(env, isQuick ? 3 : 30),
        goal: 2,
        unit: "% of a core",
      },
    ];
    for (const { what, value, goal, unit } of figures)
      console.log(
        `${what.padEnd(42)} ${value.toFixed(1).padStart(7)} ${unit}  goal ${goal}  ${value <= goal ? "ok" : "MISSED"}`,
      );
  } finally {
    stub.stop();
  }
}

/** Milliseconds from start to end of the process. */
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

/** Megabytes that the process held at most, its output read by another one. */
async function peakMemory(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { env, stdio: ["ignore", "pipe", "inherit"] });
  child.stdout.resume();
  let peak = 0;
  const timer = setInterval(() => (peak = Math.max(peak, peakOf(child.pid))), 50);
  await ended(child);
  clearInterval(timer);
  return peak / 1024;
}

function peakOf(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Percent of a core that the live screen takes, in a terminal of its own, after it has started. */
async function processorShare(env: NodeJS.ProcessEnv, seconds: number): Promise<number> {
  const words = `stty cols 120 rows 40; echo $$; exec '${process.execPath}' '${PROGRAM}' top --interval 1`;
  const terminal = spawn("script", ["-q", "-f", "-c", words, "/dev/null"], { env, stdio: ["pipe", "pipe", "inherit"] });
  let shown = "";
  terminal.stdout.on("data", (part: Buffer) => (shown += part.toString()));
  while (!shown.includes("calls/min")) await setTimeout(100);
  const pid = Number(/^(\d+)/.exec(shown)?.[1]);
  await setTimeout(2_000);
  const before = ticksOf(pid);
  await setTimeout(seconds * 1000);
  const share = (ticksOf(pid) - before) / seconds;
  terminal.stdin.write("q");
  await once(terminal, "close");
  return share;
}

/** Hundredths of a second that the process ran. */
function ticksOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

const CHANNEL = {
  id: 1,
  type: 1,
  name: "openai",
  status: 1,
  priority: 0,
  weight: 0,
  response_time: 800,
  group: "default",
  models: "gpt-4o",
  used_quota: 1,
  balance: 0,
  balance_updated_time: 0,
  other_info: "",
  tag: null,
};
const USER = { id: 1, username: "root", role: 100, quota: 1, used_quota: 1, request_count: 1, group: "default" };
const NONE = { count: 0, p50: 0, p90: 0, p95: 0, p99: 0 };
const TOTAL = {
  calls: 0,
  errors: 0,
  refused: 0,
  quota: 0,
  input_tokens: 0,
  output_tokens: 0,
  latency: NONE,
  first_token: NONE,
};
const ROW = {
  user_id: 1,
  type: 2,
  content: "model price",
  username: "root",
  token_name: "ci",
  model_name: "gpt-4o",
  quota: 123,
  prompt_tokens: 100,
  completion_tokens: 20,
  use_time: 2,
  is_stream: true,
  channel: 1,
  channel_name: "openai",
  token_id: 4,
  group: "default",
  ip: "192.0.2.1",
  request_id: "01M86T2MM99F5SH9C9952RV2J9",
  other: "",
};

const ANSWERS: readonly (readonly [path: string, data: unknown])[] = [
  ["/api/status", { version: "0.1.0", quota_per_unit: 500_000, display_in_currency: true }],
  ["/api/user/self", USER],
  ["/api/channel/types", [{ type: 1, id: "openai", label: "OpenAI" }]],
  ["/api/channel/health", []],
  ["/api/channel/", Array.from({ length: 100 }, (_one, at) => ({ ...CHANNEL, id: at + 1 }))],
  ["/api/log/stat", { quota: 0, rpm: 10, tpm: 1000 }],
  ["/api/log/facets", { complete: true, models: [], tokens: [], groups: [], types: [], channels: [], users: [] }],
  ["/api/log/", { items: [{ id: 1, created_at: 1_700_000_000, ...ROW }], total: 1, page: 1, page_size: 30, next: "" }],
  ["/api/statistics/usage", { by: "channel", start_timestamp: 0, total: TOTAL, subjects: [], more_subjects: 0 }],
  ["/api/system/info", { instance: "bench", database: "sqlite" }],
];

/** A gateway that has every answer ready. */
async function startStub(rows: number): Promise<{ readonly url: string; stop(): void }> {
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    if (path.startsWith("/api/log/export")) return void writeRows(response, rows);
    const found = ANSWERS.find(([start]) => path.startsWith(start));
    const body = JSON.stringify({ success: found !== undefined, message: "", data: found?.[1] ?? null });
    response.writeHead(found ? 200 : 404, { "content-type": "application/json" }).end(body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}

async function writeRows(response: ServerResponse, rows: number): Promise<void> {
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  let part: string[] = [];
  for (let id = rows; id > 0; id--) {
    part.push(`${JSON.stringify({ id, created_at: 1_700_000_000 + Math.floor(id / 50), ...ROW })}\n`);
    if (part.length < 500) continue;
    if (!response.write(part.join(""))) await once(response, "drain");
    part = [];
  }
  response.end(part.join(""));
}
