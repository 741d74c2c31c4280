// `npm start` from the view of a newcomer: one command, a banner, a line to paste.
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../src/index.ts";

const ROOT = join(import.meta.dirname, "../../..");
const FIRST_ANSWER_LIMIT_MS = 60_000;
/** Three seconds on a quiet machine; a start that builds or installs takes longer. */
const LATER_ANSWER_LIMIT_MS = 20_000;

let folder: string;
let port: number;
let adminPort: number;
let key: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fairway-start-"));
  [port, adminPort] = [await freePort(), await freePort()];
});
const started: ChildProcess[] = [];
afterAll(async () => {
  await Promise.all(started.filter(({ exitCode }) => exitCode === null).map(end));
  await rm(folder, { recursive: true, force: true });
});

interface Started {
  readonly child: ChildProcess;
  readonly output: string;
  readonly answer: string;
  readonly answeredAfterMs: number;
}

async function startAndAsk(limitMs: number): Promise<Started> {
  const began = performance.now();
  const child = spawn(process.execPath, [join(ROOT, "scripts/start.mjs")], {
    cwd: folder,
    env: {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("FAIRWAY_"))),
      FAIRWAY_PORT: String(port),
      FAIRWAY_ADMIN_PORT: String(adminPort),
      FAIRWAY_DATA_DIR: join(folder, "data"),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  while (!/curl .+\n/.test(output)) {
    if (performance.now() - began > limitMs || child.exitCode !== null) throw new Error(`no line to paste:\n${output}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const line = /curl .+/.exec(output)?.[0] ?? "";
  const { stdout } = await promisify(execFile)("/bin/sh", ["-c", line]);
  return { child, output, answer: stdout, answeredAfterMs: performance.now() - began };
}

function parseKey(output: string): string {
  return /Bearer (sk-\w+)/.exec(output)?.[1] ?? "";
}

function end(child: ChildProcess): Promise<number | null> {
  const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  child.kill("SIGTERM");
  return ended;
}

describe("npm start", () => {
  test("says where, how to sign in and what to paste; the line streams an answer at once; it ends in order", async () => {
    const { child, output, answer, answeredAfterMs } = await startAndAsk(FIRST_ANSWER_LIMIT_MS);
    expect(output).toContain(`http://127.0.0.1:${port}`);
    expect(output).toMatch(/root \/ 123456/);
    expect(output).toMatch(/next/i);
    expect(answer.match(/^data: \{/gm)?.length ?? 0).toBeGreaterThan(1);
    expect(answer).toContain("data: [DONE]");
    expect(answeredAfterMs).toBeLessThan(FIRST_ANSWER_LIMIT_MS);
    key = parseKey(output);
    const openai = new OpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: key });
    const said = await openai.responses.create({ model: "fairway-demo", input: "Hello, harbour!" });
    expect(said.output_text).toBe("You said: Hello, harbour!");
    const page = await (await fetch(`http://127.0.0.1:${port}/`)).text();
    expect(page).toContain("<script");
    expect(await end(child)).toBe(0);
    expect(existsSync(join(folder, "data/fairway.db"))).toBe(true);
  }, 120_000);

  test("answers the next time without building or installing, with the same key", async () => {
    const { child, output, answer, answeredAfterMs } = await startAndAsk(FIRST_ANSWER_LIMIT_MS);
    expect(output).not.toMatch(/Installing|Building/i);
    expect(parseKey(output)).toBe(key);
    expect(answer).toContain("data: [DONE]");
    expect(answeredAfterMs).toBeLessThan(LATER_ANSWER_LIMIT_MS);
    expect(await end(child)).toBe(0);
  }, 120_000);
});
