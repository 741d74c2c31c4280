import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import type { Clock } from "../lib/clock.ts";
import { LONG_AGO, type Claim, type ClaimAnswer, type Claims, type TakenAt } from "./claims.ts";

const requests = (limit: number, subject = "1"): Claim => ({
  scope: "user",
  subject,
  kind: "requests",
  limit,
  amount: 1,
});
const tokens = (limit: number, amount: number): Claim => ({
  scope: "token",
  subject: "1",
  kind: "tokens",
  limit,
  amount,
});
const places = (limit: number, subject = "1"): Claim => ({
  scope: "channel",
  subject,
  kind: "concurrency",
  limit,
  amount: 1,
});

const used = (count: number) => ({ tokens: count, isSuccess: true });
const successes = (limit: number): Claim => ({ ...requests(limit), kind: "successes" });

/** The behavior of all claims; `create` makes empty ones that use `clock`. */
export function claimsContract(name: string, create: (clock: Clock) => Promise<Claims>): void {
  describe(`${name} as claims`, () => {
    let now: number;
    let claims: Claims;
    let last: number;
    beforeEach(async () => {
      now = 1_700_000_000_000;
      last = 0;
      claims = await create({ now: () => now });
    });
    const take = (...wanted: Claim[]): Promise<ClaimAnswer> => claims.take(`r${(last += 1)}`, wanted);

    test("counts requests of a minute, and says how many and for how long", async () => {
      for (let at = 1; at <= 3; at += 1) {
        const answer = await take(requests(3));
        expect(answer).toMatchObject({ taken: true, states: [{ used: at, resetMs: 61_500 - at * 500 }] });
        now += 500;
      }
      expect(await take(requests(3))).toMatchObject({ taken: false, state: { used: 3, resetMs: 59_500 } });
      now += 59_500;
      expect((await take(requests(3))).taken).toBe(true);
    });

    test("takes all or nothing, and names the limit that is full", async () => {
      await take(requests(1, "full"));
      const wanted = [requests(5), places(5), tokens(100, 10), requests(1, "full")];
      const answer = await take(...wanted);
      expect(answer).toMatchObject({ taken: false, state: { claim: { subject: "full" }, used: 1 } });
      const states = await take(requests(5), places(5), tokens(100, 10));
      expect(states).toMatchObject({ taken: true, states: [{ used: 1 }, { used: 1 }, { used: 10 }] });
    });

    test("puts what was really used in the place of the estimate", async () => {
      const first = await take(tokens(100, 90));
      expect((await take(tokens(100, 20))).taken).toBe(false);
      await claims.correct([tokens(100, 90)], takenAt(first), used(30));
      expect(await take(tokens(100, 70))).toMatchObject({ taken: true, states: [{ used: 100 }] });
      await claims.correct([tokens(100, 70)], takenAt(first), used(500));
      expect(await take(tokens(100, 1))).toMatchObject({ taken: false, state: { used: 530 } });
      now += 61_000;
      expect((await take(tokens(100, 100))).taken).toBe(true);
    });

    test("a refusal says when the claim fits, not when something is free", async () => {
      await take(tokens(100, 10));
      now += 20_000;
      await take(tokens(100, 85));
      now += 10_000;
      expect(await take(tokens(100, 15))).toMatchObject({ taken: false, state: { used: 95, resetMs: 31_000 } });
      const refused = await take(tokens(100, 60));
      expect(refused).toMatchObject({ taken: false, state: { used: 95, resetMs: 51_000 } });
      now += 51_000;
      expect((await take(tokens(100, 60))).taken).toBe(true);
      expect(await take(requests(9))).toMatchObject({ states: [{ used: 1, resetMs: 61_000 }] });
    });

    test("a correction never lowers a count below zero", async () => {
      const first = await take(tokens(100, 30));
      await claims.correct([tokens(100, 90)], takenAt(first), used(0));
      await claims.correct([tokens(100, 90)], takenAt(first), used(0));
      expect(await take(tokens(100, 60))).toMatchObject({ taken: true, states: [{ used: 60 }] });
      expect((await take(tokens(100, 60))).taken).toBe(false);
      await claims.correct([tokens(100, 1)], LONG_AGO, used(41));
      expect(await take(tokens(100, 0))).toMatchObject({ states: [{ used: 100 }] });
    });

    test("an estimate whose minute is over gives nothing back, and what was more is counted now", async () => {
      const first = await take(tokens(100, 50));
      now += 120_000;
      await claims.correct([tokens(100, 50)], takenAt(first), used(10));
      expect(await take(tokens(100, 1))).toMatchObject({ taken: true, states: [{ used: 1 }] });
      await claims.correct([tokens(100, 50)], takenAt(first), used(90));
      expect(await take(tokens(100, 1))).toMatchObject({ taken: true, states: [{ used: 42 }] });
    });

    test("a success counts until it is known to have failed", async () => {
      const first = await take(successes(2));
      expect(await take(successes(2))).toMatchObject({ taken: true, states: [{ used: 2 }] });
      expect((await take(successes(2))).taken).toBe(false);
      await claims.correct([successes(2)], takenAt(first), used(5));
      expect((await take(successes(2))).taken).toBe(false);
      await claims.correct([successes(2)], takenAt(first), { tokens: 5, isSuccess: false });
      expect((await take(successes(2))).taken).toBe(true);
    });

    test("windows of other lengths are counted on their own", async () => {
      const hour: Claim = { ...requests(2), minutes: 60 };
      await take(hour, requests(9));
      now += 30 * 60_000;
      expect(await take(hour)).toMatchObject({ taken: true, states: [{ used: 2 }] });
      const refused = await take(hour);
      expect(refused).toMatchObject({ taken: false, state: { used: 2 } });
      const { resetMs } = (refused as { state: { resetMs: number } }).state;
      expect(resetMs).toBeGreaterThan(30 * 60_000);
      expect(resetMs).toBeLessThanOrEqual(31 * 60_000);
      expect(await take(requests(9))).toMatchObject({ states: [{ used: 1 }] });
      now += resetMs;
      expect(await take(hour)).toMatchObject({ taken: true, states: [{ used: 2 }] });
    });

    test("places are free when their request ends", async () => {
      await claims.take("a", [places(2)]);
      await claims.take("b", [places(2)]);
      expect(await claims.take("c", [places(2)])).toMatchObject({ taken: false, state: { used: 2, resetMs: 1_000 } });
      await claims.release("a", [places(2)]);
      await claims.release("a", [places(2)]);
      expect((await claims.take("c", [places(2)])).taken).toBe(true);
      expect((await claims.take("d", [places(2)])).taken).toBe(false);
    });

    test("a request that gives its place back can take it again at once, and has it", async () => {
      await claims.take("a", [places(1)]);
      const released = claims.release("a", [places(1)]);
      expect((await claims.take("a", [places(1)])).taken).toBe(true);
      await released;
      expect((await claims.take("b", [places(1)])).taken).toBe(false);
    });

    test("places of a process that died are free when their lease ends, renewed ones are not", async () => {
      await claims.take("dead", [places(2)]);
      await claims.take("alive", [places(2)]);
      now += 20_000;
      await claims.renew("alive", [places(2)]);
      now += 10_000;
      expect(await claims.take("c", [places(2)])).toMatchObject({ taken: true, states: [{ used: 2 }] });
      now += 20_000;
      expect(await claims.take("d", [places(2)])).toMatchObject({ taken: true, states: [{ used: 2 }] });
    });

    test("a request that still runs counts again when it is renewed, though its place was lost", async () => {
      await claims.take("paused", [places(1)]);
      now += 40_000;
      await claims.renew("paused", [places(1)]);
      expect(await claims.take("b", [places(1)])).toMatchObject({ taken: false, state: { used: 1 } });
      const renewed = claims.renew("paused", [places(1)]);
      await claims.release("paused", [places(1)]);
      await renewed;
      expect((await claims.take("b", [places(1)])).taken).toBe(true);
    });

    test("many at once never take more than there is", async () => {
      const answers = await Promise.all(Array.from({ length: 200 }, async () => take(requests(50), places(30))));
      expect(answers.filter(({ taken }) => taken)).toHaveLength(30);
      expect(await take(requests(50))).toMatchObject({ states: [{ used: 31 }] });
    });

    const valued = (value: string, most = 2, limit = 1, kind: Claim["kind"] = "requests"): Claim => ({
      scope: "end_user",
      subject: `t1/${value}`,
      kind,
      limit,
      amount: 1,
      oneOf: { list: "t1/end_user", most, others: "t1/~other" },
    });

    test("values are counted one by one up to their bound, and further ones together", async () => {
      for (const value of ["a", "b"])
        expect(await take(valued(value))).toMatchObject({ taken: true, claims: [{ subject: `t1/${value}` }] });
      expect(await take(valued("c"))).toMatchObject({ taken: true, claims: [{ subject: "t1/~other" }] });
      expect(await take(valued("d"))).toMatchObject({
        taken: false,
        state: { claim: { subject: "t1/~other" }, used: 1 },
      });
      expect(await take(valued("a"))).toMatchObject({ taken: false, state: { claim: { subject: "t1/a" }, used: 1 } });
      const other = { ...valued("d"), subject: "t2/d", oneOf: { list: "t2/end_user", most: 1, others: "t2/~other" } };
      expect(await take(other)).toMatchObject({ taken: true, claims: [{ subject: "t2/d" }] });
      now += 62_000;
      expect(await take(valued("d"))).toMatchObject({ taken: true, claims: [{ subject: "t1/d" }] });
    });

    test("all limits of a value are counted at the same place, and released there", async () => {
      await take(valued("a", 1));
      const wanted = [valued("b", 1), valued("b", 1, 100, "tokens"), valued("b", 1, 1, "concurrency"), requests(9)];
      const answer = await claims.take("call", wanted);
      if (!answer.taken) throw new Error("the claim was refused");
      const counted = answer.claims ?? [];
      expect(counted.map(({ subject }) => subject)).toEqual(["t1/~other", "t1/~other", "t1/~other", "1"]);
      expect(counted.some((claim) => "oneOf" in claim)).toBe(false);
      expect(await take(valued("c", 1, 1, "concurrency"))).toMatchObject({ taken: false });
      await claims.correct(counted, answer.at, used(40));
      await claims.release("call", counted);
      expect(await take(valued("c", 1, 1, "concurrency"))).toMatchObject({ taken: true });
      expect(await take({ ...valued("c", 1, 100, "tokens"), amount: 60 })).toMatchObject({ states: [{ used: 100 }] });
    });

    test("a refused request takes nothing of a value", async () => {
      await take(requests(1, "full"));
      expect((await take(valued("a"), requests(1, "full"))).taken).toBe(false);
      expect(await take(valued("a"))).toMatchObject({ taken: true, states: [{ used: 1 }] });
    });

    test("random histories stay within the limit in every minute", async () => {
      const step = fc.record({ afterMs: fc.integer({ min: 0, max: 20_000 }), amount: fc.integer({ min: 1, max: 40 }) });
      let run = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
          run += 1;
          now = 1_700_000_000_000;
          const taken: { at: number; amount: number }[] = [];
          for (const { afterMs, amount } of steps) {
            now += afterMs;
            const claim: Claim = { scope: "model", subject: `m${run}`, kind: "tokens", limit: 100, amount };
            const inWindow = (ms: number) =>
              taken.filter(({ at }) => at > now - ms).reduce((sum, { amount: used }) => sum + used, 0);
            if ((await claims.take("r", [claim])).taken) {
              expect(inWindow(60_000) + amount).toBeLessThanOrEqual(100);
              taken.push({ at: now, amount });
            } else expect(inWindow(62_000) + amount).toBeGreaterThan(100);
          }
        }),
        { numRuns: 30 },
      );
    });
  });
}

function takenAt(answer: ClaimAnswer): TakenAt {
  if (!answer.taken) throw new Error("the claim was refused");
  return answer.at;
}
