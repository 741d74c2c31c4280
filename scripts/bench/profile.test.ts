// The bench must work: a short run, whose figures mean nothing but whose calls must all succeed.
import { join } from "node:path";
import { expect, test } from "vitest";
import { run } from "../process.ts";

test("a quick profile names the parts of a call", async () => {
  const { code, output } = await run(process.execPath, [join(import.meta.dirname, "bench.ts"), "--profile", "--quick"]);
  expect([code, output]).toEqual([0, expect.stringMatching(/^[1-9]\d* calls, [1-9]\d* us each$/m)]);
  for (const part of ["fairway: relay", "fairway: billing", "undici", "HTTP and streams of Node", "system calls"])
    expect(output).toContain(`| ${part}`);
}, 300_000);

test("a quick profile of embedded streams names single functions", async () => {
  const args = ["--profile", "--at-once", "--embedded", "--functions", "--quick"];
  const { code, output } = await run(process.execPath, [join(import.meta.dirname, "bench.ts"), ...args]);
  expect([code, output]).toEqual([0, expect.stringMatching(/^\| \S+ src\/[\w/-]+\.ts:\d+ \|/m)]);
}, 300_000);
