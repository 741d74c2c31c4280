import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test } from "vitest";
import { quota } from "../../money/quota.ts";
import { isRefusal } from "../ledger.ts";
import {
  createTestAccounts,
  granted,
  type LedgerHarness,
  requestId,
  createSettlement,
  testClock,
} from "../test-harness.contract.ts";
import { openSqlHarness } from "./test-harness.contract.ts";

const HOUR_MS = 3_600_000;
const MONEY = 1_000;

eachDatabase("replicas whose clocks differ", (open) => {
  const clocks = { right: testClock(Date.now()), ahead: testClock(Date.now() + HOUR_MS) };
  let right: LedgerHarness;
  let ahead: LedgerHarness;
  beforeAll(async () => {
    const url = await open();
    right = await openSqlHarness(url, { clock: clocks.right, isLeaseClock: false });
    ahead = await openSqlHarness(url, { clock: clocks.ahead, isLeaseClock: false });
  });
  afterAll(async () => {
    await right.close();
    await ahead.close();
  });

  // @weakness Money: A replica whose clock is ahead ends the reservations of the others, and the same money is spent twice
  test("do not end each other's reservations, whichever clock is ahead", async () => {
    const accounts = createTestAccounts(right);
    for (const [holder, other] of [
      [right, ahead],
      [ahead, right],
    ] as const) {
      const user = await accounts.addUser(MONEY);
      const hold = await granted(holder.ledger, user, 0, MONEY);
      expect(await other.ledger.reap()).toBe(0);
      expect(await holder.ledger.renew(hold, createSettlement(hold, 10))).toBe(true);
      expect(await other.ledger.reap()).toBe(0);
      const request = { requestId: requestId(), userId: user, tokenId: 0, amount: quota(1), isCharged: true };
      expect(isRefusal(await other.ledger.hold(request))).toBe(true);
      await holder.ledger.settle(createSettlement(hold, MONEY));
      expect(await accounts.user(user)).toMatchObject({ quota: 0, used_quota: MONEY, request_count: 1 });
      expect(await accounts.entries(user)).toMatchObject([{ kind: "consume" }]);
    }
  });

  test("stay right when the clock of one jumps during its requests", async () => {
    const accounts = createTestAccounts(right);
    const user = await accounts.addUser(MONEY);
    const hold = await granted(right.ledger, user, 0, MONEY);
    clocks.right.advance(HOUR_MS);
    expect(await right.ledger.reap()).toBe(0);
    clocks.right.advance(-2 * HOUR_MS);
    expect(await right.ledger.renew(hold, createSettlement(hold, 10))).toBe(true);
    clocks.right.advance(HOUR_MS);
    expect(await right.ledger.reap()).toBe(0);
    expect(await accounts.openHolds(user)).toBe(1);
    await right.ledger.release(hold);
  });

  test("end a reservation that no one renews any more", async () => {
    const accounts = createTestAccounts(right);
    const user = await accounts.addUser(MONEY);
    const hold = await granted(right.ledger, user, 0, 10);
    const passed = `update holds set lease_until = lease_until - ${2 * right.leaseMs} where request_id = ?`;
    await right.database.run(passed, [hold.requestId]);
    expect(await ahead.ledger.reap()).toBe(1);
    expect(await accounts.openHolds(user)).toBe(0);
  });
});
