import { mkdtempSync, readdirSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { linesLog } from "../redis/test-harness.contract.ts";
import { createRunningSums, FoundSums, type RunningSum } from "./running-sums.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fairway-sums-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const createSum = (id: string, quota: number): RunningSum => ({
  request_id: id,
  user_id: 1,
  token_id: 2,
  amount: 100,
  seen: JSON.stringify({ quota, at: 5 }),
});
const open = (maxBytes?: number) => createRunningSums({ folder, log: linesLog([]), ...(maxBytes && { maxBytes }) });
const read = () => new FoundSums([folder]).read();

describe("the sums of open requests", () => {
  it("return the last sum of each request that has not ended, for any history and any size of the file", async () => {
    const step = fc.record({
      id: fc.integer({ min: 0, max: 5 }),
      quota: fc.nat(9),
      kind: fc.constantFrom("see", "end"),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.constantFrom(1, 300, 1e6), async (steps, maxBytes) => {
        for (const file of readdirSync(folder)) rmSync(join(folder, file));
        const sums = open(maxBytes);
        const expected = new Map<string, RunningSum>();
        for (const [at, { id, quota, kind }] of steps.entries()) {
          const name = `r${id}`;
          if (kind === "see") {
            expected.set(name, createSum(name, quota));
            sums.write(createSum(name, quota), () => expected.values());
          } else {
            expected.delete(name);
            sums.end(name);
          }
          if (at % 3 === 0) await turn();
        }
        await turn();
        await turn();
        expect(new Map(read().map((sum) => [sum.request_id, sum]))).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  it("stay in a file whose size does not grow with time", async () => {
    const sums = open(2_000);
    for (let round = 0; round < 200; round += 1) {
      sums.write(createSum("a", round), () => [createSum("a", round)]);
      await turn();
    }
    expect(sums.bytes).toBeLessThan(2_500);
    expect(read()).toEqual([createSum("a", 199)]);
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it("ignore a line that a crash truncated", async () => {
    const sums = open();
    sums.write(createSum("a", 1), () => []);
    await turn();
    const whole = sums.bytes;
    sums.write(createSum("a", 2), () => []);
    await turn();
    truncateSync(join(folder, readdirSync(folder)[0] ?? ""), whole + 20);
    expect(read()).toEqual([createSum("a", 1)]);
  });

  it("leave no file after an orderly end", async () => {
    const sums = open();
    sums.write(createSum("a", 1), () => []);
    sums.end("a");
    await turn();
    await turn();
    sums.close();
    expect(readdirSync(folder)).toEqual([]);
  });
});
