import { expect, test } from "vitest";
import { createThread } from "./thread.ts";

/** Returns the double, fails on 13, and terminates the thread on a negative number. */
const BODY = `
  import { parentPort } from "node:worker_threads";
  parentPort.on("message", ({ id, job }) => {
    if (job < 0) process.exit(1);
    parentPort.postMessage(job === 13 ? { id, error: "no thirteen" } : { id, result: job * 2 });
  });`;
const script = new URL(`data:text/javascript,${encodeURIComponent(BODY)}`);

test("a thread answers each job, and reports what failed", async () => {
  const thread = createThread<number, number>(script);
  const jobs = [1, 2, 3].map((job) => thread.run(job));
  expect(thread.load).toBe(3);
  expect(await Promise.all(jobs)).toEqual([2, 4, 6]);
  await expect(thread.run(13)).rejects.toThrow("no thirteen");
  expect(thread.load).toBe(0);
});

test("a job that ends the thread is tried twice, and the next one gets a new thread", async () => {
  const thread = createThread<number, number>(script);
  await expect(thread.run(-1)).rejects.toThrow("a thread failed twice at one job");
  expect(await thread.run(5)).toBe(10);
});
