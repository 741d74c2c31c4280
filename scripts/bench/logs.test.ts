// The benches must work: short runs, whose figures mean nothing but whose queries must all be answered.
import { join } from "node:path";
import { expect, test } from "vitest";
import { run } from "../process.ts";

const BENCH = join(import.meta.dirname, "bench.ts");

test("a quick bench of the log asks every question, with few partitions and with many", async () => {
  const args = [BENCH, "--logs", "--quick", "--databases", "postgres", "--rows", "3000"];
  const { code, output } = await run(process.execPath, args);
  expect(output).not.toContain("NaN");
  expect(code).toBe(0);
  for (const title of ["Lists", "Histogram", "Facets", "Statistics"]) expect(output).toContain(`\n## ${title}\n`);
  expect(output).toMatch(/PostgreSQL, 3\d\d partitions/);
  expect(output.split("\n").filter((line) => /^\| .* \| 200 \| .*\d \/ \d/.test(line)).length).toBeGreaterThan(35);
}, 300_000);

test("a quick bench of growth measures channels and tokens", async () => {
  const { code, output } = await run(process.execPath, [BENCH, "--growth", "--quick"]);
  expect(code).toBe(0);
  expect(output.split("\n").filter((line) => /^\| (?:20|200) \| \d/.test(line))).toHaveLength(4);
}, 120_000);
