// The bench must work: a short run, whose figures mean nothing but whose calls must all succeed.
import { join } from "node:path";
import { expect, test } from "vitest";
import { run } from "../process.ts";

test("a quick bench of the management API measures every call", async () => {
  const args = [join(import.meta.dirname, "bench.ts"), "--api", "--quick", "--databases", "sqlite", "--logs", "3000"];
  const { code, output } = await run(process.execPath, args);
  expect(output).not.toContain("NaN");
  expect(code).toBe(0);
  for (const title of ["Log", "Statistics of a day", "Channels", "Wider questions", "Sign-ins next to a stream"])
    expect(output).toContain(`\n## ${title}\n`);
  // Calls of every kind, and the sign-ins.
  expect(output.split("\n").filter((line) => /^\| .* \d/.test(line)).length).toBeGreaterThan(30);
}, 300_000);
