import { expect, test } from "vitest";
import { createLoopDelay } from "./loop-delay.ts";

test("a blocked event loop shows", async () => {
  const delay = createLoopDelay();
  expect(delay.p99Ms()).toBe(0);
  await delay.start();
  await new Promise((resolve) => setTimeout(resolve, 50));
  const until = performance.now() + 200;
  while (performance.now() < until) Math.sqrt(until);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(delay.p99Ms()).toBeGreaterThan(100);
  await delay.stop();
});
