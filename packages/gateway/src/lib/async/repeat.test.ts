import { expect, test, vi } from "vitest";
import { repeat } from "./repeat.ts";

test("runs again after failures, one at a time, and not after the stop", async () => {
  vi.useFakeTimers();
  const errors: unknown[] = [];
  let runs = 0;
  let atOnce = 0;
  const job = repeat({
    name: "job",
    everyMs: 10,
    async work() {
      runs += 1;
      atOnce += 1;
      expect(atOnce).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 25));
      atOnce -= 1;
      if (runs === 2) throw new Error("second");
    },
    onError: (error) => errors.push(error),
  });
  await job.start();
  await vi.advanceTimersByTimeAsync(10);
  expect(runs).toBe(1);
  await vi.advanceTimersByTimeAsync(25 + 10 + 25 + 10);
  expect(runs).toBe(3);
  expect(errors).toEqual([new Error("second")]);
  const stopped = job.stop();
  await vi.advanceTimersByTimeAsync(25);
  await stopped;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(runs).toBe(3);
  vi.useRealTimers();
});
