import { beforeEach, describe, expect, test } from "vitest";
import { createMemoryLimiter } from "./limiter-memory.ts";
import { limiterContract } from "./limiter.contract.ts";

limiterContract("process memory", (clock) => createMemoryLimiter(clock));

describe("the memory of the limiter", () => {
  const rule = { name: "r", limit: 2, windowMs: 1_000 };
  let now: number;
  const clock = { now: () => now };
  beforeEach(() => (now = 5_000));

  test("holds a bounded number of subjects, the latest", async () => {
    const limiter = createMemoryLimiter(clock, { maxSubjects: 2 });
    for (const subject of ["a", "b", "c"]) await limiter.take(rule, subject);
    expect((await limiter.peek(rule, "a")).remaining).toBe(2);
    expect((await limiter.peek(rule, "b")).remaining).toBe(1);
    expect((await limiter.peek(rule, "c")).remaining).toBe(1);
  });

  test("holds a bounded number of requests", async () => {
    const limiter = createMemoryLimiter(clock, { maxTimes: 3 });
    for (const subject of ["a", "a", "b", "b"]) await limiter.take(rule, subject);
    expect((await limiter.peek(rule, "a")).remaining).toBe(2);
    expect((await limiter.peek(rule, "b")).remaining).toBe(0);
  });

  test("a flood of one rule leaves the counts of another", async () => {
    const limiter = createMemoryLimiter(clock, { maxSubjects: 2 });
    const logins = { ...rule, name: "logins" };
    await limiter.take(logins, "ann");
    for (let at = 0; at < 10; at += 1) await limiter.take(rule, `address ${at}`);
    expect((await limiter.peek(logins, "ann")).remaining).toBe(1);
  });

  test("lets idle subjects go, so that new ones find room", async () => {
    const limiter = createMemoryLimiter(clock, { maxSubjects: 3 });
    for (const subject of ["a", "b", "c"]) await limiter.take(rule, subject);
    now += 1_000;
    await limiter.take(rule, "d");
    await limiter.take(rule, "e");
    await limiter.take(rule, "f");
    for (const subject of ["d", "e", "f"]) expect((await limiter.peek(rule, subject)).remaining).toBe(1);
  });
});
