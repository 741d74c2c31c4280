import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { currentLimit, TookTooLong, withinTime } from "./time-limit.ts";

test("answers what the work answers, and fails as it fails", async () => {
  await expect(withinTime(1_000, () => Promise.resolve(7))).resolves.toBe(7);
  await expect(withinTime(1_000, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
});

test("rejects slow work and aborts its signal", async () => {
  let seen: AbortSignal | undefined;
  const endless = withinTime(20, async () => {
    await pause(1);
    seen = currentLimit();
    await new Promise(() => {});
  });
  await expect(endless).rejects.toThrow(TookTooLong);
  expect(seen?.aborted).toBe(true);
  expect(currentLimit()).toBeUndefined();
});

test("does not abort work that continues after it finished in time", async () => {
  let after: Promise<AbortSignal | undefined> | undefined;
  await withinTime(10, async () => {
    after = pause(40).then(currentLimit);
  });
  expect((await after)?.aborted).toBe(false);
});

test("accepts an answer that arrived while the process was paused", async () => {
  const answer = withinTime(30, () => fetch("data:text/plain,here").then((response) => response.text()));
  const until = performance.now() + 60;
  while (performance.now() < until);
  await expect(answer).resolves.toBe("here");
});
