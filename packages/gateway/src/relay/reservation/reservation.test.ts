import { createDatabase } from "@fairway/testkit/databases";
import { parseOptions } from "@fairway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openSqlHarness } from "../../billing/ledger/sql/test-harness.contract.ts";
import { createTestAccounts, requestId, type LedgerHarness } from "../../billing/ledger/test-harness.contract.ts";
import { quota } from "../../billing/money/quota.ts";
import type { Caller } from "../../identity/authentication/caller.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import { CallProgress } from "../request/call-progress.ts";
import { Reservation, type BudgetLimits } from "./reservation.ts";

const BALANCE = 1_000;
const snapshot = { options: parseOptions([]) } as Snapshot;
const target = { channel: { id: 7 }, group: "default" };

let harness: LedgerHarness;

beforeAll(async () => {
  harness = await openSqlHarness(await createDatabase("sqlite"));
});
afterAll(() => harness.close());

/** Budgets that cover up to `most`, and remember what they were asked for. */
function createLimits(most: number): BudgetLimits & { readonly asked: number[] } {
  const asked: number[] = [];
  return {
    asked,
    extend: (amount) => Promise.resolve(asked.push(amount) > 0 && amount <= most),
    shrink: (amount) => void asked.push(0 - amount),
  };
}

async function open(amount: number, limits?: BudgetLimits) {
  const userId = await createTestAccounts(harness).addUser(BALANCE);
  const progress = new CallProgress();
  const call = { id: requestId(), caller: { userId, tokenId: 0 } as Caller, spec: { model: "m" }, progress };
  const models: string[] = [];
  const counting = ({ model }: { readonly model: string }) => (models.push(model), {});
  const money = { ledger: harness.ledger, budgets: { counting }, now: () => harness.clock.now() };
  const terms = { amount: quota(amount), isCharged: true };
  const reservation = await Reservation.open(call, terms, { money, snapshot, limits });
  const left = async () => (await createTestAccounts(harness).user(userId)).quota;
  const entries = () => createTestAccounts(harness).entries(userId);
  return { reservation, progress, call, models, left, entries };
}

test("is charged once: later charges and releases change nothing", async () => {
  const { reservation, left, entries } = await open(100);
  const bill = { quota: quota(40), target };
  expect(await reservation.settle(() => bill)).toBe(bill);
  expect(await reservation.settle(() => ({ quota: quota(900) }))).toBeUndefined();
  await reservation.release();
  await reservation.renew({ quota: quota(500) });
  expect(await left()).toBe(BALANCE - 40);
  expect(await entries()).toMatchObject([{ kind: "consume", quota: -40, channel_id: 7 }]);
});

test("a renewal without a bill keeps what is charged if the process dies", async () => {
  const { reservation, left } = await open(100);
  await reservation.renew({ quota: quota(40), target });
  await reservation.renew();
  await reservation.raise(quota(120));
  harness.clock.advance(harness.leaseMs + 1);
  await harness.ledger.reap();
  expect(await left()).toBe(BALANCE - 40);
});

test("is released once, and then never charged", async () => {
  const { reservation, left } = await open(100);
  await reservation.release();
  expect(await reservation.settle(() => ({ quota: quota(40) }))).toBeUndefined();
  expect([reservation.isClosed, await left()]).toEqual([true, BALANCE]);
});

test("asks hard budgets before the balance, and says which of them does not cover a raise", async () => {
  const limits = createLimits(5_000);
  const { reservation, progress } = await open(100, limits);
  expect(await reservation.raise(quota(6_000))).toBe("budget");
  expect([progress.usedUp, reservation.amount]).toEqual([undefined, 100]);
  expect(await reservation.raise(quota(4_000))).toBe("balance");
  expect([progress.usedUp, reservation.amount]).toEqual(["balance", 100]);
  expect(await reservation.raise(quota(800))).toBeUndefined();
  expect(reservation.amount).toBe(800);
  reservation.shrinkBudgets();
  expect(limits.asked).toEqual([6_000, 4_000, 800, -800]);
  await reservation.release();
});

test("a model that the request falls back to raises only the balance, and its budgets count the charge", async () => {
  const [before, after] = [createLimits(5_000), createLimits(5_000)];
  const { reservation, progress, call, models } = await open(100, before);
  expect(await reservation.raiseBalance(quota(9_000))).toBe(false);
  expect(await reservation.raiseBalance(quota(200))).toBe(true);
  expect([progress.usedUp, before.asked]).toEqual([undefined, []]);
  reservation.changeModel({ ...call, spec: { model: "other" } }, after);
  await reservation.raise(quota(300));
  expect([before.asked, after.asked]).toEqual([[], [300]]);
  await reservation.settle(() => ({ quota: quota(1), target }));
  expect(models).toEqual(["other"]);
});

test("a call that no balance covers is refused with what it needs and what there is", async () => {
  await expect(open(BALANCE + 1)).rejects.toMatchObject({ code: "insufficient_user_quota", status: 403 });
});
