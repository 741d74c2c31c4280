// The bench must work: a short run, whose figures mean nothing but whose charges must all arrive.
import { join } from "node:path";
import { expect, test } from "vitest";
import { run } from "../process.ts";

const bench = (...args: readonly string[]) =>
  run(process.execPath, [join(import.meta.dirname, "bench.ts"), "--ledger", "--quick", ...args]);

test("a quick bench of the ledger measures every kind of load, on an empty database and next to rows", async () => {
  const { code, output } = await bench("--rows=2000");
  expect(output).not.toContain("NaN");
  expect(code).toBe(0);
  expect(output).toContain("## Next to 2,000 rows");
  expect(output).toContain("every balance followed from them");
  expect(output.split("\n").filter((line) => /^\| 1 \| .* \| (?:\d+\.\d\d|–) \|$/.test(line))).toHaveLength(2 * 7);
  expect(
    output.split("\n").filter((line) => /^\| 1 \| (?:held back|booked meanwhile) \| [\d,]+ \|/.test(line)),
  ).toHaveLength(2);
}, 600_000);

test("a bench of the ledger explains itself where the number of rows is none", async () => {
  const { code, output } = await bench("--rows=many");
  expect(code).toBe(1);
  expect(output).toContain("--rows=N takes a whole number up to 999999999, not --rows=many");
});
