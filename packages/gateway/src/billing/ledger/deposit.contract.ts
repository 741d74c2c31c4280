import { beforeAll, describe, expect, it } from "vitest";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import { checkBalances } from "../audit/balances.ts";
import { checkCounters } from "../audit/counters.ts";
import { checkLedgerSums } from "../audit/sums.ts";
import { quota } from "../money/quota.ts";
import { isRefusal, type DepositClose, type DepositSettlement } from "./ledger.ts";
import {
  type Accounts,
  createLogDetail,
  createSettlement,
  granted,
  type LedgerHarness,
  requestId,
} from "./test-harness.contract.ts";

const AT = 1_800_000_001_500;

/** The contract for reservations that outlive their process: deposits of batches. */
export function depositContract(opened: () => { readonly harness: LedgerHarness; readonly accounts: Accounts }): void {
  let harness: LedgerHarness;
  let accounts: Accounts;
  beforeAll(() => {
    ({ harness, accounts } = opened());
  });

  const hold = (userId: number, tokenId: number, amount: number) =>
    harness.ledger.hold({ requestId: requestId(), userId, tokenId, amount: quota(amount), isCharged: true });

  const settlement = (amount: number, items: number, channelId = 0): DepositSettlement => ({
    quota: quota(amount),
    items,
    channelId,
    log: createLogDetail(channelId),
  });

  const deposited = async (amount: number, part?: number) => {
    const user = await accounts.addUser(1000);
    const token = await accounts.addToken(user, 500);
    const channel = await accounts.addChannel();
    const open = await granted(harness.ledger, user, token, amount);
    await harness.ledger.deposit(open, { at: AT, ...(part !== undefined && { amount: quota(part) }) });
    const close = (settlements: readonly DepositSettlement[], work?: DepositClose["work"]) =>
      harness.ledger.closeDeposit({
        requestId: open.requestId,
        userId: user,
        tokenId: token,
        at: AT + 60_000,
        settlements,
        ...(work && { work }),
      });
    return { user, token, channel, open, close };
  };

  /** Books that no ledger row explains; balances of the test accounts begin without one. */
  const differences = async () => {
    await harness.ledger.flush();
    return [
      ...(await checkBalances(harness.database, false)).filter(({ what }) => what === "reservations"),
      ...(await checkCounters(harness.database)),
      ...(await checkLedgerSums(harness.database)),
    ];
  };

  describe("a deposit", () => {
    it("debits user and token, is no usage and needs no lease", async () => {
      const { user, token } = await deposited(300);
      expect(await accounts.user(user)).toEqual({ quota: 700, used_quota: 0, request_count: 0 });
      expect(await accounts.token(token)).toEqual({ remain_quota: 200, used_quota: 300, accessed_time: 1_800_000_001 });
      expect(await accounts.entries(user)).toEqual([{ kind: "deposit", quota: -300, channel_id: 0 }]);
      expect(await accounts.logs(user)).toEqual([]);
      harness.clock.advance(10 * harness.leaseMs);
      await harness.ledger.reap();
      expect(await accounts.user(user)).toEqual({ quota: 700, used_quota: 0, request_count: 0 });
      expect(await hold(user, token, 201)).toMatchObject({ refused: "token", available: 200 });
      expect(await hold(user, 0, 701)).toMatchObject({ refused: "user", available: 700 });
      expect(isRefusal(await hold(user, token, 200))).toBe(false);
      expect(await differences()).toEqual([]);
    });

    it("of a part releases the rest of the hold", async () => {
      const { user, token } = await deposited(400, 150);
      await expect.poll(() => accounts.openHolds(user)).toBe(0);
      expect((await accounts.user(user)).quota).toBe(850);
      expect(await hold(user, token, 351)).toMatchObject({ refused: "token", available: 350 });
      expect(isRefusal(await hold(user, token, 350))).toBe(false);
    });

    it("is booked once, and a release or reaping afterwards changes nothing", async () => {
      const { user, open } = await deposited(100);
      await Promise.all([harness.ledger.deposit(open, { at: AT }), harness.ledger.deposit(open, { at: AT })]);
      await harness.ledger.release(open);
      harness.clock.advance(harness.leaseMs);
      await harness.ledger.reap();
      expect((await accounts.user(user)).quota).toBe(900);
      expect(await accounts.entries(user)).toHaveLength(1);
    });

    // @weakness Money: A reservation that expired while a batch was created is booked although others spent it
    it("is refused after its hold has expired, and takes nothing", async () => {
      const user = await accounts.addUser(1000);
      const open = await granted(harness.ledger, user, 0, 100);
      harness.clock.advance(harness.leaseMs);
      await harness.ledger.reap();
      await expect(harness.ledger.deposit(open, { at: AT })).rejects.toMatchObject({ code: "balances_unavailable" });
      expect((await accounts.user(user)).quota).toBe(1000);
      expect((await accounts.entries(user)).filter(({ kind }) => kind === "deposit")).toEqual([]);
    });

    it("never overdraws when 50 holds become deposits at once", async () => {
      const user = await accounts.addUser(1000);
      const token = await accounts.addToken(user, "unlimited");
      const answers = await Promise.all(
        Array.from({ length: 50 }, async () => {
          const open = await hold(user, token, 300);
          if (!isRefusal(open)) await harness.ledger.deposit(open, { at: AT });
          return open;
        }),
      );
      expect(answers.filter((one) => !isRefusal(one))).toHaveLength(3);
      expect((await accounts.user(user)).quota).toBe(100);
    });
  });

  describe("the close of a deposit", () => {
    it("returns it and charges one row for each settlement, with one log row each", async () => {
      const { user, token, channel, open, close } = await deposited(300);
      expect(await close([settlement(120, 40, channel), settlement(30, 5, channel)])).toBe(true);
      expect(await accounts.user(user)).toEqual({ quota: 850, used_quota: 150, request_count: 45 });
      expect(await accounts.token(token)).toMatchObject({ remain_quota: 350, used_quota: 150 });
      expect(await accounts.channelUsed(channel)).toBe(150);
      expect(await accounts.entries(user)).toEqual([
        { kind: "deposit", quota: -300, channel_id: 0 },
        { kind: "return", quota: 300, channel_id: 0 },
        { kind: "consume", quota: -120, channel_id: channel },
        { kind: "consume", quota: -30, channel_id: channel },
      ]);
      expect(await accounts.logs(user)).toMatchObject([
        { quota: 120, request_id: open.requestId },
        { quota: 30, request_id: `${open.requestId}.2` },
      ]);
      expect(isRefusal(await hold(user, token, 350))).toBe(false);
      expect(await differences()).toEqual([]);
    });

    // @weakness Money: A batch is charged again by each run that finds it finished
    it("happens once, also when replicas run it at the same time", async () => {
      const { user, close } = await deposited(300);
      const one = settlement(100, 2);
      const answers = await Promise.all([close([one]), close([one]), close([one])]);
      expect(answers.filter(Boolean)).toHaveLength(1);
      expect(await close([settlement(200, 9)])).toBe(false);
      expect(await accounts.user(user)).toEqual({ quota: 900, used_quota: 100, request_count: 2 });
      expect(await accounts.logs(user)).toHaveLength(1);
    });

    it("shares a transaction with its work, and leaves no trace when the work fails", async () => {
      const { user, close } = await deposited(300);
      const rename = (name: string) => (tx: RawTransaction) =>
        tx.run("update users set display_name = ? where id = ?", [name, user]);
      const readDisplayName = async () =>
        (await harness.database.rows("select display_name from users where id = ?", [user]))[0];
      const fails = () => Promise.reject(new Error("another replica leads"));
      await expect(close([settlement(100, 1)], fails)).rejects.toThrow("another replica leads");
      expect(await accounts.user(user)).toEqual({ quota: 700, used_quota: 0, request_count: 0 });
      expect(await close([settlement(100, 1)], rename("first"))).toBe(true);
      expect(await close([settlement(100, 1)], rename("second"))).toBe(false);
      expect(await readDisplayName()).toEqual({ display_name: "first" });
      expect((await accounts.user(user)).quota).toBe(900);
    });

    it("charges more than the deposit if that was too small", async () => {
      const { user, token, close } = await deposited(300);
      expect(await close([settlement(1200, 3)])).toBe(true);
      expect(await accounts.user(user)).toEqual({ quota: -200, used_quota: 1200, request_count: 3 });
      expect(await accounts.token(token)).toMatchObject({ remain_quota: -700, used_quota: 1200 });
      expect(await hold(user, 0, 1)).toMatchObject({ refused: "user", available: -200 });
    });

    it("without a charge books no consumption and writes the log row", async () => {
      const { user, close } = await deposited(300);
      expect(await close([settlement(0, 0)])).toBe(true);
      expect(await accounts.user(user)).toEqual({ quota: 1000, used_quota: 0, request_count: 0 });
      expect((await accounts.entries(user)).map(({ kind }) => kind)).toEqual(["deposit", "return"]);
      expect(await accounts.logs(user)).toMatchObject([{ quota: 0 }]);
      expect(await differences()).toEqual([]);
    });

    it("still works when its token was deleted", async () => {
      const { user, token, channel, close } = await deposited(300);
      await harness.database.run("delete from tokens where id = ?", [token]);
      expect(await close([settlement(50, 1, channel)])).toBe(true);
      expect(await accounts.user(user)).toEqual({ quota: 950, used_quota: 50, request_count: 1 });
      expect(isRefusal(await hold(user, 0, 950))).toBe(false);
    });

    it("still works when its user was deleted", async () => {
      const { user, token, channel, close } = await deposited(300);
      await harness.ledger.flush();
      await harness.database.run("delete from tokens where id = ?", [token]);
      await harness.database.run("delete from users where id = ?", [user]);
      expect(await close([settlement(50, 1, channel)])).toBe(true);
      expect(await close([settlement(50, 1, channel)])).toBe(false);
      expect(await accounts.channelUsed(channel)).toBe(50);
      expect((await accounts.entries(user)).map(({ kind }) => kind)).toEqual(["deposit", "return", "consume"]);
    });

    it("before the deposit refuses a deposit that arrives later", async () => {
      const user = await accounts.addUser(1000);
      const open = await granted(harness.ledger, user, 0, 100);
      const close = { requestId: open.requestId, userId: user, tokenId: 0, at: AT, settlements: [] };
      expect(await harness.ledger.closeDeposit(close)).toBe(true);
      await expect(harness.ledger.deposit(open, { at: AT })).rejects.toMatchObject({ code: "balances_unavailable" });
      await harness.ledger.release(open);
      expect((await accounts.user(user)).quota).toBe(1000);
      expect(await harness.ledger.closeDeposit(close)).toBe(false);
    });

    it("does not disturb the other requests of the account", async () => {
      const { user, token, close } = await deposited(200);
      const others = await Promise.all(Array.from({ length: 5 }, () => granted(harness.ledger, user, token, 20)));
      const settled = others.map((one, at) => harness.ledger.settle(createSettlement(one, at)));
      await Promise.all([...settled, close([settlement(90, 7)])]);
      expect(await accounts.user(user)).toEqual({ quota: 900, used_quota: 100, request_count: 12 });
      expect(await accounts.token(token)).toMatchObject({ remain_quota: 400, used_quota: 100 });
      expect(isRefusal(await hold(user, token, 400))).toBe(false);
    });
  });
}
