// The bench must work: a short run, whose figures mean nothing.
import { join } from "node:path";
import { expect, test } from "vitest";
import { run } from "../process.ts";

test("a quick bench of batches creates one, settles it and prints both", async () => {
  const { code, output } = await run(process.execPath, [join(import.meta.dirname, "bench.ts"), "--batches", "--quick"]);
  expect([code, output]).toEqual([0, expect.stringMatching(/\| creation \|.*\n\| settlement \|/)]);
}, 300_000);
