import { beforeEach, describe, expect, test } from "vitest";
import type { Clock } from "../lib/clock.ts";
import type { Limiter, Rule } from "./limiter.ts";

const RULE: Rule = { name: "three", limit: 3, windowMs: 1_000 };

/** The behavior of every limiter; `create` makes an empty one that uses `clock`. */
export function limiterContract(name: string, create: (clock: Clock) => Limiter | Promise<Limiter>): void {
  describe(`${name} as a limiter`, () => {
    let now: number;
    let limiter: Limiter;
    beforeEach(async () => {
      now = 1_700_000_000_000;
      limiter = await create({ now: () => now });
    });
    const takeMany = async (count: number, subject = "a") => {
      const admissions = [];
      for (let at = 0; at < count; at += 1) admissions.push((await limiter.take(RULE, subject)).admitted);
      return admissions;
    };

    test("admits up to the limit and says how many are left", async () => {
      expect(await limiter.take(RULE, "a")).toEqual({ admitted: true, limit: 3, remaining: 2, resetMs: 1_000 });
      now += 100;
      expect(await limiter.take(RULE, "a")).toEqual({ admitted: true, limit: 3, remaining: 1, resetMs: 900 });
      expect(await limiter.take(RULE, "a")).toMatchObject({ admitted: true, remaining: 0 });
      expect(await limiter.take(RULE, "a")).toEqual({ admitted: false, limit: 3, remaining: 0, resetMs: 900 });
    });

    test("slides: each request leaves the window for itself, when it is as old as the window", async () => {
      await limiter.take(RULE, "a");
      now += 600;
      await takeMany(2);
      now += 399;
      expect((await limiter.take(RULE, "a")).admitted).toBe(false);
      now += 1;
      expect(await takeMany(2)).toEqual([true, false]);
      now += 600;
      expect(await takeMany(3)).toEqual([true, true, false]);
    });

    test("does not count what it refused", async () => {
      await takeMany(3);
      for (let at = 0; at < 9; at += 1) {
        now += 100;
        expect((await limiter.take(RULE, "a")).admitted).toBe(false);
      }
      now += 100;
      expect((await limiter.take(RULE, "a")).admitted).toBe(true);
    });

    test("keeps subjects and rules apart", async () => {
      await takeMany(3);
      expect((await limiter.take(RULE, "b")).admitted).toBe(true);
      expect((await limiter.take({ ...RULE, name: "other" }, "a")).admitted).toBe(true);
      expect((await limiter.take(RULE, "a")).admitted).toBe(false);
    });

    test("checks without counting", async () => {
      expect(await limiter.peek(RULE, "a")).toEqual({ admitted: true, limit: 3, remaining: 3, resetMs: 0 });
      await takeMany(3);
      expect(await limiter.peek(RULE, "a")).toEqual({ admitted: false, limit: 3, remaining: 0, resetMs: 1_000 });
      now += 1_000;
      expect(await limiter.peek(RULE, "a")).toMatchObject({ admitted: true, remaining: 3 });
    });

    test("forgets a subject that is cleared", async () => {
      await takeMany(3);
      await takeMany(1, "b");
      await limiter.clear(RULE, "a");
      expect(await takeMany(4)).toEqual([true, true, true, false]);
      expect((await limiter.peek(RULE, "b")).remaining).toBe(2);
    });

    test("admits exactly the limit of requests that come at once", async () => {
      const admissions = await Promise.all(Array.from({ length: 50 }, () => limiter.take(RULE, "a")));
      expect(admissions.filter(({ admitted }) => admitted)).toHaveLength(3);
    });
  });
}
