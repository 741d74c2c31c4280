// The bench must work: a short run, whose figures mean nothing but whose calls must all succeed.
import { join } from "node:path";
import { expect, test } from "vitest";
import { run } from "../process.ts";

test("a quick count of allocations takes another build in turn and names the functions that allocate", async () => {
  const bundle = join(import.meta.dirname, "../../packages/gateway/dist/main.mjs");
  const args = ["--allocations", "--quick", "--embedded", "--functions", `--against=${bundle}`];
  const { code, output } = await run(process.execPath, [join(import.meta.dirname, "bench.ts"), ...args]);
  expect([code, output]).toEqual([0, expect.stringMatching(/^\| fairway, SQLite \| [1-9][\d.]* \|$/m)]);
  expect(output).toMatch(/^\| fairway, SQLite, other build \| [1-9][\d.]* \|$/m);
  expect(output).toMatch(/^\| \S+ src\/[\w/-]+\.ts:\d+ \| [1-9]\d* \|$/m);
}, 300_000);
