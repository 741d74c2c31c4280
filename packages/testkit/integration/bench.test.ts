// The bench itself must work: a short run, whose figures mean nothing but whose calls must all succeed.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../../..");
const SYSTEMS = ["nginx", "bare Node", "express + fetch", "fairway, SQLite", "fairway, MariaDB + Redis"];

test("a quick bench measures every system without a failed call", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(ROOT, "scripts/bench/bench.ts"), "--quick"], {
    cwd: ROOT,
  });
  for (const system of SYSTEMS) {
    // CPU, latency and memory: a row in each table.
    expect(stdout.split("\n").filter((line) => line.startsWith(`| ${system} |`))).toHaveLength(3);
  }
  for (const client of ["OpenAI chat, passed through", "Anthropic", "OpenAI Responses", "Gemini"]) {
    // CPU and memory of its streams.
    expect(stdout.split("\n").filter((line) => line.startsWith(`| ${client} |`))).toHaveLength(2);
  }
  for (const goal of [
    "plain, fairway, SQLite: times the limit | 9",
    "stream at once, fairway, MariaDB + Redis: times the limit | 3",
  ])
    expect(stdout).toContain(`| ${goal} | `);
  expect(stdout.split("\n").filter((line) => /\| (?:met|missed) \|$/.test(line))).toHaveLength(11);
  expect(stdout).not.toContain("NaN");
}, 240_000);
