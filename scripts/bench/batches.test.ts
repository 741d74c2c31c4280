// The bench must work: a short run, whose figures mean nothing.
import { join } from "node:path";
import { expect, test } from "vitest";
import { run } from "../process.ts";

test("a quick bench of batches creates one, settles it, reads a file, follows others and prints all", async () => {
  const { code, output } = await run(process.execPath, [join(import.meta.dirname, "bench.ts"), "--batches", "--quick"]);
  expect([code, output]).toEqual([
    0,
    expect.stringMatching(
      /\| creation \|.*\n\| settlement \|.*\n\| upload of a file \|.*\n\| creation from a file \|.*\n\| following 10 open ones/,
    ),
  ]);
}, 300_000);
