// The bench must work: a short run, whose figures mean nothing but whose calls must all succeed.
import { join } from "node:path";
import { expect, test } from "vitest";
import { run } from "../process.ts";

test("a quick bench of the collector reads what the engine traces", async () => {
  const args = [join(import.meta.dirname, "bench.ts"), "--collector", "--quick"];
  const { code, output } = await run(process.execPath, args);
  expect([code, output]).toEqual([
    0,
    expect.stringMatching(/\| [1-9]\d* \| [1-9]\d* \| [\d.]+ \| [\d.]+ \| [1-9]\d* \|/),
  ]);
}, 300_000);
