import { beforeEach, describe, expect, test } from "vitest";
import { createBreakers, type Breakers } from "./breaker.ts";

describe("a breaker", () => {
  let now: number;
  let changes: [number, number, number][];
  let breakers: Breakers;
  beforeEach(() => {
    now = 1_000_000;
    changes = [];
    breakers = createBreakers({
      clock: { now: () => now },
      onChange: (...change) => void changes.push(change),
    });
  });
  const fail = (times: number) => {
    for (let at = 0; at < times; at += 1) breakers.observe(1, 0, "failed");
  };

  test("opens after five failures in a row, for its own key only", () => {
    fail(4);
    expect(breakers.until(1, 0)).toBe(0);
    fail(1);
    expect(breakers.until(1, 0)).toBe(now + 10_000);
    expect(breakers.until(1, 1)).toBe(0);
    expect(breakers.until(2, 0)).toBe(0);
    expect(changes).toEqual([[1, 0, 10_000]]);
  });

  test("opens when half of twenty calls within half a minute fail", () => {
    for (let at = 0; at < 10; at += 1) {
      breakers.observe(1, 0, "failed");
      expect(breakers.until(1, 0)).toBe(0);
      breakers.observe(1, 0, "fine");
    }
    fail(1);
    expect(breakers.until(1, 0)).toBeGreaterThan(now);
  });

  test("ignores failures that are far apart", () => {
    for (let at = 0; at < 60; at += 1) {
      breakers.observe(1, 0, "failed");
      breakers.observe(1, 0, "fine");
      now += 4_000;
    }
    expect(changes).toEqual([]);
  });

  test("lets one probe through, and closes when it succeeds", () => {
    fail(5);
    now += 10_000;
    expect(breakers.until(1, 0)).toBe(0);
    breakers.markChosen(1, 0);
    expect(breakers.until(1, 0)).toBeGreaterThan(now);
    breakers.observe(1, 0, "fine");
    expect(breakers.until(1, 0)).toBe(0);
    expect(breakers.states()).toEqual([]);
    expect(changes).toEqual([
      [1, 0, 10_000],
      [1, 0, 0],
    ]);
  });

  test("rests twice as long after each probe that fails, five minutes at most", () => {
    fail(5);
    const rests = [];
    for (let at = 0; at < 7; at += 1) {
      now = breakers.until(1, 0);
      breakers.markChosen(1, 0);
      breakers.observe(1, 0, "failed");
      rests.push((breakers.until(1, 0) - now) / 1000);
    }
    expect(rests).toEqual([20, 40, 80, 160, 300, 300, 300]);
  });

  test("a probe whose client left is followed by the next one, and one that hangs does not block for ever", () => {
    fail(5);
    now += 10_000;
    breakers.markChosen(1, 0);
    breakers.observe(1, 0, "unknown");
    expect(breakers.until(1, 0)).toBe(0);
    breakers.markChosen(1, 0);
    now += 60_000;
    expect(breakers.until(1, 0)).toBe(0);
  });

  test("applies a change of another replica without publishing it", () => {
    breakers.applyRemote(3, 1, 20_000);
    expect(breakers.until(3, 1)).toBe(now + 20_000);
    expect(breakers.states()).toEqual([
      { channelId: 3, keyIndex: 1, state: "open", until: now + 20_000, consecutiveFailures: 0 },
    ]);
    breakers.applyRemote(3, 1, 0);
    expect(breakers.until(3, 1)).toBe(0);
    expect(changes).toEqual([]);
  });

  test("replicas that open at the same time do not lengthen each other's openings", () => {
    fail(5);
    for (let replica = 0; replica < 3; replica += 1) breakers.applyRemote(1, 0, 10_000);
    now = breakers.until(1, 0);
    breakers.markChosen(1, 0);
    fail(1);
    expect(breakers.until(1, 0)).toBe(now + 20_000);
    for (let replica = 0; replica < 3; replica += 1) breakers.applyRemote(1, 0, 20_000);
    breakers.applyRemote(1, 0, 10_000);
    expect(breakers.until(1, 0)).toBe(now + 20_000);
    now += 20_000;
    breakers.markChosen(1, 0);
    fail(1);
    expect(breakers.until(1, 0)).toBe(now + 40_000);
  });

  test("a call that was sent before it opened is no probe", () => {
    fail(5);
    now += 10_000;
    fail(20);
    expect(breakers.until(1, 0)).toBe(0);
    breakers.markChosen(1, 0);
    fail(1);
    expect(breakers.until(1, 0)).toBe(now + 20_000);
  });
});
