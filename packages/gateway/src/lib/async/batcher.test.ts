import { expect, test } from "vitest";
import { createBatcher } from "./batcher.ts";

function recorder(startsAt: "now" | "turn", maxJobs = 10, isolatesFailures = false) {
  const batches: (readonly number[])[] = [];
  const batcher = createBatcher<number, number>({
    maxJobs,
    startsAt,
    isolatesFailures,
    async work(jobs) {
      batches.push(jobs);
      await Promise.resolve();
      if (jobs.includes(0)) throw new Error("zero");
      return jobs.map((job) => job * 10);
    },
  });
  return { batcher, batches };
}

test("runs the first job at once and the others together after it", async () => {
  const { batcher, batches } = recorder("now");
  expect(await Promise.all([1, 2, 3].map((job) => batcher.add(job)))).toEqual([10, 20, 30]);
  expect(batches).toEqual([[1], [2, 3]]);
});

test("runs all jobs of one event loop turn together, up to the limit", async () => {
  const { batcher, batches } = recorder("turn", 2);
  const first = batcher.add(1);
  await Promise.resolve();
  expect(await Promise.all([first, batcher.add(2), batcher.add(3)])).toEqual([10, 20, 30]);
  expect(batches).toEqual([[1, 2], [3]]);
  expect(await batcher.add(4)).toBe(40);
});

test("rejects the jobs of a failed batch and continues with the next batch", async () => {
  const { batcher } = recorder("turn", 2);
  const results = await Promise.allSettled([0, 1, 2].map((job) => batcher.add(job)));
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
  await batcher.idle();
});

test("repeats the jobs of a failed batch alone when failures are isolated", async () => {
  const { batcher, batches } = recorder("turn", 3, true);
  const results = await Promise.allSettled([1, 0, 2].map((job) => batcher.add(job)));
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(batches).toEqual([[1, 0, 2], [1], [0], [2]]);
});
