// The bench must work: a short run, whose figures mean nothing.
import { join } from "node:path";
import { expect, test } from "vitest";
import { run } from "../process.ts";

test("a quick bench of the terminal program measures start, list, streaming and the live screen", async () => {
  const { code, output } = await run(process.execPath, [join(import.meta.dirname, "bench.ts"), "--cli", "--quick"]);
  expect(code, output).toBe(0);
  expect(output).toMatch(/^fairway --version +[\d.]+ ms {2}goal 60/m);
  expect(output).toMatch(/^fairway channel list +[\d.]+ ms {2}goal 120/m);
  expect(output).toMatch(/^log list --limit all, 20,000 rows +[\d.]+ MB {2}goal 120/m);
  expect(output).toMatch(/^fairway top --interval 1 +[\d.]+ % of a core {2}goal 2/m);
}, 300_000);

test("a quick bench of the browser measures both screens", async () => {
  const { code, output } = await run(process.execPath, [join(import.meta.dirname, "bench.ts"), "--ui", "--quick"]);
  expect(code, output).toBe(0);
  expect(output).toMatch(/^fairway ui, 1,000 channels +[\d.]+ % of a core {2}goal 8/m);
  expect(output).toMatch(/^fairway ui logs, 200 rows\/s, memory +[\d.]+ MB {2}goal 150/m);
}, 300_000);
