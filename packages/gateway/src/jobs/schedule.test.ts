import { expect, test } from "vitest";
import { paced } from "./schedule.ts";

const confirm = () => Promise.resolve();

test("a paced job runs at its interval, also after a change", async () => {
  let now = 1_000;
  let minutes = 5;
  const runs: number[] = [];
  const run = paced(
    { now: () => now },
    () => minutes,
    async () => runs.push(now),
  );
  const tick = async (at: number) => {
    now = at;
    await run(new AbortController().signal, confirm);
  };
  for (const at of [1_000, 61_000, 300_999, 301_000]) await tick(at);
  expect(runs).toEqual([1_000, 301_000]);
  minutes = 1;
  await tick(601_000);
  await tick(661_000);
  expect(runs).toEqual([1_000, 301_000, 601_000, 661_000]);
});

test("a failed run is retried at the next interval", async () => {
  let failures = 0;
  const run = paced(
    { now: () => 0 },
    () => 5,
    async () => {
      failures++;
      throw new Error("the database is away");
    },
  );
  const { signal } = new AbortController();
  await expect(run(signal, confirm)).rejects.toThrow("away");
  await expect(run(signal, confirm)).rejects.toThrow("away");
  expect(failures).toBe(2);
});
