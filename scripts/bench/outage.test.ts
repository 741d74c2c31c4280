// The bench must work: a short run, whose figures mean nothing.
import { join } from "node:path";
import { expect, test } from "vitest";
import { run } from "../process.ts";

test("a quick bench of an outage compares both modes", async () => {
  const { code, output } = await run(process.execPath, [join(import.meta.dirname, "bench.ts"), "--outage", "--quick"]);
  expect(code, output).toBe(0);
  expect(output).not.toContain("NaN");
  const rows = output.split("\n").filter((line) => /^\| (?:deny|sql) \| (?:there|away) \|/.test(line));
  expect(rows.map((line) => line.split(" | ").slice(0, 2).join(" "))).toEqual([
    "| deny there",
    "| deny away",
    "| sql there",
    "| sql away",
  ]);
  expect(rows.map((line) => line.split(" | ")[3])).toEqual(["0 %", "100 %", "0 %", "0 %"]);
}, 600_000);
