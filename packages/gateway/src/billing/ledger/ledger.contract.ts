import { balanceEventContract } from "./balance-events.contract.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { depositContract } from "./deposit.contract.ts";
import { leaseContract } from "./lease.contract.ts";
import { type Hold, type HoldRefusal, isRefusal } from "./ledger.ts";
import {
  type Accounts,
  createTestAccounts,
  granted,
  type LedgerHarness,
  createLogDetail,
  requestId,
  createSettlement,
} from "./test-harness.contract.ts";
import { quota } from "../money/quota.ts";

/** The behavior of every ledger implementation. */
export function ledgerContract(open: () => Promise<LedgerHarness>): void {
  let harness: LedgerHarness;
  let accounts: Accounts;
  beforeAll(async () => {
    harness = await open();
    accounts = createTestAccounts(harness);
  });
  afterAll(() => harness.close());

  const hold = (userId: number, tokenId: number, amount: number, isCharged = true) =>
    harness.ledger.hold({ requestId: requestId(), userId, tokenId, amount: quota(amount), isCharged });

  /** Waits until this much is available, because a release runs in the background if balances are in Redis. */
  const released = (userId: number, available: number) =>
    expect.poll(() => hold(userId, 0, available + 1)).toMatchObject({ refused: "user", available });

  describe("a reservation", () => {
    it("is settled at the actual cost of the request", async () => {
      const user = await accounts.addUser(1000);
      const token = await accounts.addToken(user, 500);
      const channel = await accounts.addChannel();
      const open = await granted(harness.ledger, user, token, 300);
      await harness.ledger.settle(createSettlement(open, 120, { channelId: channel }));
      expect(await accounts.user(user)).toEqual({ quota: 880, used_quota: 120, request_count: 1 });
      expect(await accounts.token(token)).toEqual({ remain_quota: 380, used_quota: 120, accessed_time: 1_800_000_001 });
      expect(await accounts.channelUsed(channel)).toBe(120);
      expect(await accounts.entries(user)).toEqual([{ kind: "consume", quota: -120, channel_id: channel }]);
      expect(await accounts.logs(user)).toMatchObject([
        { quota: 120, request_id: open.requestId, channel_id: channel },
      ]);
      expect(await accounts.openHolds(user)).toBe(0);
      expect(isRefusal(await hold(user, token, 380))).toBe(false);
    });

    it("is released in full, once, without a trace", async () => {
      const user = await accounts.addUser(100);
      const token = await accounts.addToken(user, 100);
      const open = await granted(harness.ledger, user, token, 100);
      await harness.ledger.release(open);
      await harness.ledger.release(open);
      await released(user, 100);
      expect(await accounts.user(user)).toEqual({ quota: 100, used_quota: 0, request_count: 0 });
      expect(await accounts.token(token)).toEqual({ remain_quota: 100, used_quota: 0, accessed_time: 0 });
      expect(await accounts.entries(user)).toEqual([]);
      expect(await accounts.logs(user)).toEqual([]);
      expect(isRefusal(await hold(user, token, 100))).toBe(false);
    });

    it("may be settled above the held amount and below zero; the next one is refused", async () => {
      const user = await accounts.addUser(100);
      const open = await granted(harness.ledger, user, 0, 100);
      await harness.ledger.settle(createSettlement(open, 150));
      expect((await accounts.user(user)).quota).toBe(-50);
      expect(await hold(user, 0, 1)).toMatchObject({ refused: "user", needed: 1, available: -50 });
      expect(await hold(user, 0, 0)).toMatchObject({ refused: "user", needed: 0, available: -50 });
    });

    it("requires a positive balance even for an amount of 0, unless the call is free", async () => {
      const user = await accounts.addUser(0);
      const token = await accounts.addToken(user, 0);
      expect(await hold(user, token, 0)).toMatchObject({ refused: "user", needed: 0, available: 0 });
      const free = await hold(user, token, 0, false);
      if (isRefusal(free)) throw new Error("refused");
      await harness.ledger.settle(createSettlement(free, 0));
      expect(await accounts.user(user)).toEqual({ quota: 0, used_quota: 0, request_count: 1 });
      expect(await accounts.logs(user)).toMatchObject([{ quota: 0 }]);
    });

    it("returns whether the user or the token lacks quota, and how much", async () => {
      const user = await accounts.addUser(1000);
      const token = await accounts.addToken(user, 50);
      await granted(harness.ledger, user, token, 30);
      expect(await hold(user, token, 21)).toMatchObject({ refused: "token", needed: 21, available: 20 });
      expect(await hold(user, token, 971)).toMatchObject({ refused: "user", needed: 971, available: 970 });
      expect(await hold(user, 999_999_999, 1)).toMatchObject({ refused: "token", needed: 1, available: 0 });
      expect(await hold(999_999_999, 0, 1)).toMatchObject({ refused: "user", needed: 1, available: 0 });
      expect(isRefusal(await hold(user, 0, 970))).toBe(false);
    });

    it("refused by the token deducts nothing from the user", async () => {
      const user = await accounts.addUser(100);
      const token = await accounts.addToken(user, 10);
      expect(isRefusal(await hold(user, token, 60))).toBe(true);
      expect(isRefusal(await hold(user, 0, 100))).toBe(false);
    });

    it("grants the wished amount up to half of the available balance, and at least the required amount", async () => {
      const user = await accounts.addUser(1000);
      const token = await accounts.addToken(user, 700);
      const wish = (tokenId: number, amount: number, wished: number) =>
        harness.ledger.hold({
          requestId: requestId(),
          userId: user,
          tokenId,
          amount: quota(amount),
          wished: quota(wished),
          isCharged: true,
        });
      expect(await wish(token, 10, 300)).toMatchObject({ amount: 300 });
      expect(await wish(token, 10, 900)).toMatchObject({ amount: 200 });
      expect(await wish(token, 150, 900)).toMatchObject({ amount: 150 });
      expect(await wish(token, 51, 900)).toMatchObject({ refused: "token", needed: 51, available: 50 });
      expect(await wish(0, 100, 50)).toMatchObject({ amount: 100 });
      const both = await Promise.all([wish(0, 10, 900), wish(0, 10, 900)]);
      expect(both).toMatchObject([{ amount: 125 }, { amount: 62 }]);
      for (const open of both) await harness.ledger.release(open as Hold);
      await released(user, 250);
      expect(isRefusal(await hold(user, 0, 250))).toBe(false);
    });

    it("with an unlimited token is limited by the user balance only", async () => {
      const user = await accounts.addUser(100);
      const token = await accounts.addToken(user, "unlimited");
      const open = await granted(harness.ledger, user, token, 100);
      await harness.ledger.settle(createSettlement(open, 70));
      expect(await accounts.token(token)).toMatchObject({ remain_quota: 0, used_quota: 70 });
      expect(await hold(user, token, 31)).toMatchObject({ refused: "user", available: 30 });
    });
  });

  describe("concurrent reservations", () => {
    // @weakness Money: Reservations are checked and made in two steps: parallel requests overdraw
    it("admits as many as the user balance covers: 10 of 200", async () => {
      const user = await accounts.addUser(1000);
      const token = await accounts.addToken(user, "unlimited");
      const answers = await Promise.all(Array.from({ length: 200 }, () => hold(user, token, 100)));
      const admitted = answers.flatMap((answer) => (isRefusal(answer) ? [] : [answer]));
      expect(admitted).toHaveLength(10);
      await Promise.all(admitted.map((open) => harness.ledger.settle(createSettlement(open, 100))));
      expect(await accounts.user(user)).toEqual({ quota: 0, used_quota: 1000, request_count: 10 });
      expect(await accounts.logs(user)).toHaveLength(10);
    });

    it("admits as many as the token covers, and refuses the others one by one", async () => {
      const user = await accounts.addUser(1_000_000);
      const token = await accounts.addToken(user, 55);
      const amounts = [50, 10, 5, 1];
      const answers = await Promise.all(amounts.map((amount) => hold(user, token, amount)));
      expect(answers.map(isRefusal)).toEqual([false, true, false, true]);
      expect((answers[1] as HoldRefusal).available).toBe(5);
    });

    it("charges many users and channels separately", async () => {
      const users = await Promise.all(Array.from({ length: 8 }, () => accounts.addUser(100_000)));
      const channels = await Promise.all(Array.from({ length: 3 }, () => accounts.addChannel()));
      const work = Array.from({ length: 120 }, async (_, index) => {
        const user = users[index % users.length] as number;
        const channelId = channels[index % channels.length] as number;
        const open = await granted(harness.ledger, user, 0, 50);
        if (index % 5 === 4) await harness.ledger.release(open);
        else await harness.ledger.settle(createSettlement(open, index, { channelId }));
      });
      await Promise.all(work);
      const settled = Array.from({ length: 120 }, (_, index) => index).filter((index) => index % 5 !== 4);
      for (const [at, user] of users.entries()) {
        const own = settled.filter((index) => index % users.length === at);
        const used = own.reduce((sum, amount) => sum + amount, 0);
        expect(await accounts.user(user)).toEqual({
          quota: 100_000 - used,
          used_quota: used,
          request_count: own.length,
        });
      }
      for (const [at, channel] of channels.entries()) {
        const used = settled.filter((index) => index % channels.length === at).reduce((sum, amount) => sum + amount, 0);
        expect(await accounts.channelUsed(channel)).toBe(used);
      }
    });
  });

  describe("a settlement", () => {
    it("counts once when repeated by any replica, and not after a release", async () => {
      const user = await accounts.addUser(1000);
      const open = await granted(harness.ledger, user, 0, 100);
      await Promise.all([
        harness.ledger.settle(createSettlement(open, 80)),
        harness.ledger.settle(createSettlement(open, 80)),
      ]);
      await harness.ledger.settle(createSettlement(open, 90));
      await harness.ledger.release(open);
      const other = await granted(harness.ledger, user, 0, 100);
      await harness.ledger.release(other);
      await released(user, 920);
      await harness.ledger.settle(createSettlement(other, 70));
      expect(await accounts.user(user)).toEqual({ quota: 920, used_quota: 80, request_count: 1 });
      expect(await accounts.logs(user)).toHaveLength(1);
      expect(isRefusal(await hold(user, 0, 920))).toBe(false);
    });

    it("charges when logging is off", async () => {
      const user = await accounts.addUser(1000);
      const open = await granted(harness.ledger, user, 0, 100);
      const { log: _log, ...silent } = createSettlement(open, 60);
      await harness.ledger.settle(silent);
      expect((await accounts.user(user)).quota).toBe(940);
      expect(await accounts.logs(user)).toEqual([]);
      expect(await accounts.entries(user)).toHaveLength(1);
    });

    it("stores long and non-ASCII log text unchanged", async () => {
      const user = await accounts.addUser(1000);
      const open = await granted(harness.ledger, user, 0, 1);
      const content = `é😀'"\\ ?$1 ${"x".repeat(70_000)}`;
      await harness.ledger.settle(
        createSettlement(open, 1, {
          log: createLogDetail(0, { content, modelName: "m".repeat(300), username: "名".repeat(80) }),
        }),
      );
      expect((await accounts.logs(user))[0]?.content).toBe(content);
    });
  });

  leaseContract(() => ({ harness, accounts }));
  balanceEventContract(() => ({ harness, accounts }));
  depositContract(() => ({ harness, accounts }));

  describe("a change", () => {
    it("is applied once per request and kind", async () => {
      const user = await accounts.addUser(100);
      const change = {
        requestId: requestId(),
        kind: "topup",
        userId: user,
        quota: quota(50),
        detail: "code 1",
      } as const;
      const answers = await Promise.all(Array.from({ length: 3 }, () => harness.ledger.change(change)));
      expect(answers.filter(Boolean)).toHaveLength(1);
      expect(await harness.ledger.change({ ...change, kind: "gift", quota: quota(-20) })).toBe(true);
      expect(await accounts.user(user)).toEqual({ quota: 130, used_quota: 0, request_count: 0 });
      expect(await accounts.entries(user)).toMatchObject([
        { kind: "topup", quota: 50 },
        { kind: "gift", quota: -20 },
      ]);
      expect(isRefusal(await hold(user, 0, 130))).toBe(false);
    });

    it("that refunds a task reverts its charge everywhere except in the request count", async () => {
      const user = await accounts.addUser(1000);
      const token = await accounts.addToken(user, 500);
      const channelId = await accounts.addChannel();
      const open = await granted(harness.ledger, user, token, 100);
      await harness.ledger.settle(createSettlement(open, 100, { channelId }));
      const refund = {
        requestId: open.requestId,
        kind: "refund",
        userId: user,
        tokenId: token,
        channelId,
        quota: quota(100),
      } as const;
      expect(await harness.ledger.change(refund)).toBe(true);
      expect(await harness.ledger.change(refund)).toBe(false);
      expect(await accounts.user(user)).toEqual({ quota: 1000, used_quota: 0, request_count: 1 });
      expect(await accounts.token(token)).toMatchObject({ remain_quota: 500, used_quota: 0 });
      expect(await accounts.channelUsed(channelId)).toBe(0);
    });

    it("shares a transaction with its cause, and rolls it back when it was applied before", async () => {
      const user = await accounts.addUser(100);
      const change = { requestId: requestId(), kind: "topup", userId: user, quota: quota(50) } as const;
      const rename = (name: string) => (tx: RawTransaction) =>
        tx.run("update users set display_name = ? where id = ?", [name, user]).then(() => change);
      const readDisplayName = async () =>
        (await harness.database.rows("select display_name from users where id = ?", [user]))[0];
      expect(await harness.ledger.changeWith(rename("first"))).toBe(true);
      expect(await harness.ledger.changeWith(rename("second"))).toBe(false);
      expect(await harness.ledger.changeWith(() => Promise.resolve(undefined))).toBe(false);
      await expect(harness.ledger.changeWith(() => Promise.reject(new Error("changed my mind")))).rejects.toThrow(
        "mind",
      );
      expect(await readDisplayName()).toEqual({ display_name: "first" });
      expect((await accounts.user(user)).quota).toBe(150);
    });

    it("moves money between accounts in one transaction, once", async () => {
      const [from, to] = [await accounts.addUser(100), await accounts.addUser(0)];
      const id = requestId();
      const move = (amount: number, name = id) => [
        { requestId: `${name}-out`, kind: "transfer", userId: from, quota: quota(-amount) } as const,
        { requestId: `${name}-in`, kind: "transfer", userId: to, quota: quota(amount) } as const,
      ];
      expect(await harness.ledger.changeAllWith(() => Promise.resolve(move(30)))).toBe(true);
      // The second change of this one is known: the first is undone with it.
      const half = [...move(5, requestId()).slice(0, 1), ...move(30).slice(1)];
      expect(await harness.ledger.changeAllWith(() => Promise.resolve(half))).toBe(false);
      expect(await harness.ledger.changeAllWith(() => Promise.resolve(move(30)))).toBe(false);
      expect(await harness.ledger.changeAllWith(() => Promise.resolve([]))).toBe(false);
      expect((await accounts.user(from)).quota).toBe(70);
      expect((await accounts.user(to)).quota).toBe(30);
      const hold = await granted(harness.ledger, to, 0, 30);
      await harness.ledger.release(hold);
    });

    it("moves money in both directions at once without a deadlock", async () => {
      const [one, other] = [await accounts.addUser(1000), await accounts.addUser(1000)];
      const move = (from: number, to: number) => {
        const id = requestId();
        return harness.ledger.changeAllWith(() =>
          Promise.resolve([
            { requestId: `${id}-out`, kind: "transfer", userId: from, quota: quota(-7) } as const,
            { requestId: `${id}-in`, kind: "transfer", userId: to, quota: quota(7) } as const,
          ]),
        );
      };
      await Promise.all(Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? move(one, other) : move(other, one))));
      expect((await accounts.user(one)).quota).toBe(1000);
      expect((await accounts.user(other)).quota).toBe(1000);
    });
  });

  it("has nothing pending after a flush", async () => {
    const user = await accounts.addUser(1000);
    const open = await granted(harness.ledger, user, 0, 100);
    const settled = harness.ledger.settle(createSettlement(open, 1));
    expect(harness.ledger.pending).toBeGreaterThan(0);
    await harness.ledger.flush();
    expect(harness.ledger.pending).toBe(0);
    await settled;
  });
}
