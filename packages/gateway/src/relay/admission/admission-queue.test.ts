import { describe, expect, test } from "vitest";
import { createAdmissionQueue } from "./admission-queue.ts";

const NEVER_MS = 1_000_000;

describe("the queue of a channel", () => {
  test("gives users turns, and each user's requests in their order", async () => {
    const queue = createAdmissionQueue(NEVER_MS);
    const served: string[] = [];
    const wait = (name: string, userId: number) => {
      const place = queue.join([1], userId, 100);
      void place?.turn(NEVER_MS).then(() => {
        served.push(name);
        place.leave();
      });
    };
    for (const name of ["a1", "a2", "a3", "a4"]) wait(name, 1);
    wait("b1", 2);
    wait("c1", 3);
    for (let at = 0; at < 6; at += 1) {
      queue.freed(1);
      await Promise.resolve();
      await Promise.resolve();
    }
    expect(served).toEqual(["a1", "b1", "c1", "a2", "a3", "a4"]);
    expect(queue.waiting).toBe(0);
    expect(queue.isWaitedFor(1)).toBe(false);
  });

  test("is bounded per channel", () => {
    const queue = createAdmissionQueue(NEVER_MS);
    const places = Array.from({ length: 3 }, () => queue.join([1], 1, 2));
    expect(places.map((place) => place !== undefined)).toEqual([true, true, false]);
    expect(queue.join([2], 1, 2)).toBeDefined();
    places[0]?.leave();
    places[0]?.leave();
    expect(queue.join([1], 1, 2)).toBeDefined();
  });

  test("ends a turn after its time, and when it is left", async () => {
    const queue = createAdmissionQueue(NEVER_MS);
    const place = queue.join([1], 1, 9);
    expect(await place?.turn(5)).toBe(false);
    const waiting = place?.turn(NEVER_MS);
    place?.leave();
    expect(await waiting).toBe(false);
  });

  test("polls, because other replicas free places too", async () => {
    const place = createAdmissionQueue(5).join([1], 1, 9);
    expect(await place?.turn(2_000)).toBe(true);
    place?.leave();
  });

  test("a request waits for every channel that could serve it, once", async () => {
    const queue = createAdmissionQueue(NEVER_MS);
    const both = queue.join([1, 2], 1, 9);
    expect([queue.isWaitedFor(1), queue.isWaitedFor(2), queue.isWaitedFor(3)]).toEqual([true, true, false]);
    expect([both?.isIn(1), both?.isIn(2), both?.isIn(3)]).toEqual([true, true, false]);
    expect(queue.waiting).toBe(1);
    for (const channelId of [2, 1]) {
      const turn = both?.turn(NEVER_MS);
      queue.freed(3);
      queue.freed(channelId);
      expect(await turn).toBe(true);
    }
    both?.leave();
    expect([queue.waiting, queue.isWaitedFor(1), queue.isWaitedFor(2)]).toEqual([0, false, false]);
    queue.join([1], 1, 1);
    const other = queue.join([1, 2], 1, 1);
    expect([other?.isIn(1), other?.isIn(2)]).toEqual([false, true]);
    expect(queue.join([1, 2], 1, 1)).toBeUndefined();
  });
});
