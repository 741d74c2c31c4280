import { describe, expect, test } from "vitest";
import { WorkQueue } from "./work-queue.ts";

describe("the work queue", () => {
  const open = () => {
    const clock = { now: 0 };
    return { clock, queue: new WorkQueue(() => clock.now) };
  };

  test("holds a key once, however often it is added", () => {
    const { queue } = open();
    for (const key of ["a", "a", "b", "a"]) queue.add(key);
    expect(queue.take(10)).toEqual(["a", "b"]);
    expect(queue.take(10)).toEqual([]);
  });

  test("does not give out a key that is worked on, and gives it out again after that", () => {
    const { queue } = open();
    queue.add("a");
    expect(queue.take(1)).toEqual(["a"]);
    queue.add("a");
    expect(queue.take(1)).toEqual([]);
    queue.done("a");
    expect(queue.take(1)).toEqual(["a"]);
  });

  test("doubles the pause of a key that fails up to five minutes, and forgets it with a success", () => {
    const { clock, queue } = open();
    queue.add("a");
    const pauses = Array.from({ length: 11 }, () => {
      queue.take(1);
      queue.failed("a");
      const pause = queue.waitMs ?? 0;
      clock.now += pause;
      return pause / 1000;
    });
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
    queue.take(1);
    queue.done("a");
    queue.add("a");
    queue.take(1);
    queue.failed("a");
    expect(queue.waitMs).toBe(1000);
  });

  test("an earlier time wins over a later one", () => {
    const { clock, queue } = open();
    queue.add("a", 500);
    queue.add("a", 100);
    queue.add("a", 900);
    expect(queue.waitMs).toBe(100);
    expect(queue.take(1)).toEqual([]);
    clock.now = 100;
    expect(queue.take(1)).toEqual(["a"]);
  });

  test("wakes who waits when a key is added and when it is stopped", async () => {
    const { queue } = open();
    const stop = new AbortController();
    const woken = queue.wait(stop.signal);
    queue.add("a");
    await woken;
    expect(queue.take(1)).toEqual(["a"]);
    const stopped = queue.wait(stop.signal);
    stop.abort();
    await stopped;
  });
});
