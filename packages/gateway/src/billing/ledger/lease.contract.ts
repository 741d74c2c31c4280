import { beforeAll, describe, expect, it } from "vitest";
import { isRefusal } from "./ledger.ts";
import {
  type Accounts,
  granted,
  type LedgerHarness,
  createLogDetail,
  requestId,
  createSettlement,
} from "./test-harness.contract.ts";
import { quota } from "../money/quota.ts";

/** The contract for renewing, expiring and extending a reservation while its request runs. */
export function leaseContract(opened: () => { readonly harness: LedgerHarness; readonly accounts: Accounts }): void {
  let harness: LedgerHarness;
  let accounts: Accounts;
  beforeAll(() => {
    ({ harness, accounts } = opened());
  });

  const hold = (userId: number, tokenId: number, amount: number) =>
    harness.ledger.hold({ requestId: requestId(), userId, tokenId, amount: quota(amount), isCharged: true });

  describe("a lease", () => {
    const streaming = async () => {
      const user = await accounts.addUser(1000);
      const token = await accounts.addToken(user, 500);
      const channelId = await accounts.addChannel();
      const open = await granted(harness.ledger, user, token, 100);
      return { user, token, channelId, open };
    };

    it("keeps the reservation while it is renewed in time", async () => {
      const { user, open } = await streaming();
      harness.clock.advance(harness.leaseMs - 1);
      expect(await harness.ledger.renew(open, createSettlement(open, 10))).toBe(true);
      harness.clock.advance(harness.leaseMs - 1);
      await harness.ledger.reap();
      expect(await accounts.openHolds(user)).toBe(1);
      await harness.ledger.settle(createSettlement(open, 40));
      expect((await accounts.user(user)).quota).toBe(960);
    });

    it("releases everything when it expires before anything was delivered", async () => {
      const { user, token, open } = await streaming();
      harness.clock.advance(harness.leaseMs);
      await Promise.all([harness.ledger.reap(), harness.ledger.reap()]);
      expect(await accounts.user(user)).toEqual({ quota: 1000, used_quota: 0, request_count: 0 });
      expect(await accounts.token(token)).toMatchObject({ remain_quota: 500, used_quota: 0 });
      expect(await accounts.logs(user)).toEqual([]);
      expect(await harness.ledger.renew(open, createSettlement(open, 10))).toBe(false);
      expect(isRefusal(await hold(user, token, 500))).toBe(false);
    });

    it("is settled once at the last reported usage when it expires, marked as interrupted", async () => {
      const { user, token, channelId, open } = await streaming();
      await harness.ledger.renew(open, createSettlement(open, 30, { channelId }));
      harness.clock.advance(harness.leaseMs);
      const [first, second] = await Promise.all([harness.ledger.reap(), harness.ledger.reap()]);
      expect((first ?? 0) + (second ?? 0)).toBeGreaterThanOrEqual(1);
      expect(await accounts.user(user)).toEqual({ quota: 970, used_quota: 30, request_count: 1 });
      expect(await accounts.token(token)).toMatchObject({ remain_quota: 470, used_quota: 30 });
      expect(await accounts.channelUsed(channelId)).toBe(30);
      const [log] = await accounts.logs(user);
      expect(JSON.parse(log?.other ?? "")).toEqual({ frt: -1000, end_reason: "interrupted" });
    });

    it.each([
      ["more", 45],
      ["less", 10],
      ["the same", 30],
    ])("is corrected when its request settles after it expired: %s", async (_, amount) => {
      const { user, token, channelId, open } = await streaming();
      await harness.ledger.renew(open, createSettlement(open, 30, { channelId }));
      harness.clock.advance(harness.leaseMs);
      await harness.ledger.reap();
      const late = createSettlement(open, amount, { channelId, log: createLogDetail(channelId, { content: "whole" }) });
      await harness.ledger.settle(late);
      await harness.ledger.settle(late);
      expect(await accounts.user(user)).toEqual({ quota: 1000 - amount, used_quota: amount, request_count: 1 });
      expect(await accounts.token(token)).toMatchObject({ remain_quota: 500 - amount, used_quota: amount });
      expect(await accounts.channelUsed(channelId)).toBe(amount);
      expect(await accounts.logs(user)).toMatchObject([{ quota: amount, content: "whole" }]);
      const kinds = (await accounts.entries(user)).map(({ kind }) => kind);
      expect(kinds).toEqual(["consume", "correct"]);
    });

    it("is charged when it expired without usage and its request settles later", async () => {
      const { user, channelId, open } = await streaming();
      harness.clock.advance(harness.leaseMs);
      await harness.ledger.reap();
      await harness.ledger.settle(createSettlement(open, 25, { channelId }));
      expect(await accounts.user(user)).toEqual({ quota: 975, used_quota: 25, request_count: 1 });
      expect(await accounts.channelUsed(channelId)).toBe(25);
      expect(await accounts.logs(user)).toMatchObject([{ quota: 25 }]);
    });

    it("expires like any other for the playground and without logging", async () => {
      const user = await accounts.addUser(1000);
      const open = await granted(harness.ledger, user, 0, 100);
      const { log: _log, ...silent } = createSettlement(open, 30);
      await harness.ledger.renew(open, silent);
      harness.clock.advance(harness.leaseMs);
      await harness.ledger.reap();
      expect((await accounts.user(user)).quota).toBe(970);
      expect(await accounts.logs(user)).toEqual([]);
    });
  });

  describe("an extension", () => {
    it("reserves the difference from user and token", async () => {
      const user = await accounts.addUser(1000);
      const token = await accounts.addToken(user, 500);
      const open = await granted(harness.ledger, user, token, 100);
      const seen = createSettlement(open, 90);
      expect(await harness.ledger.renew(open, seen, quota(400))).toBe(true);
      expect(await harness.ledger.renew(open, seen, quota(300))).toBe(true);
      expect(await hold(user, token, 101)).toMatchObject({ refused: "token", available: 100 });
      expect(await harness.ledger.renew(open, seen, quota(501))).toBe(false);
      await harness.ledger.settle(createSettlement(open, 350));
      expect((await accounts.user(user)).quota).toBe(650);
      expect(isRefusal(await hold(user, token, 150))).toBe(false);
      expect(isRefusal(await hold(user, 0, 500))).toBe(false);
    });

    it("that is refused retains the held amount and the reported usage", async () => {
      const user = await accounts.addUser(100);
      const open = await granted(harness.ledger, user, 0, 80);
      harness.clock.advance(harness.leaseMs - 1);
      expect(await harness.ledger.renew(open, createSettlement(open, 75), quota(101))).toBe(false);
      harness.clock.advance(harness.leaseMs);
      await harness.ledger.reap();
      expect(await accounts.user(user)).toEqual({ quota: 25, used_quota: 75, request_count: 1 });
    });
  });
}
