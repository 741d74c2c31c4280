// The bench must keep working: a short run, whose figures mean nothing but whose charges must all arrive.
import { join } from "node:path";
import { expect, test } from "vitest";
import { run } from "./process.ts";

test("a quick bench of the ledger measures every kind of load", async () => {
  const { code, output } = await run(process.execPath, [join(import.meta.dirname, "bench.ts"), "--ledger", "--quick"]);
  expect(output).not.toContain("NaN");
  expect(code).toBe(0);
  expect(output.split("\n").filter((line) => /^\| \d.*\| (?:held back|booked meanwhile) \|/.test(line))).toHaveLength(
    2,
  );
}, 120_000);
