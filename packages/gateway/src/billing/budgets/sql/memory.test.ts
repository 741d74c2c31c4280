import { afterAll, beforeAll, expect, test } from "vitest";
import { openStoreKit, type StoreKit } from "../../../../test/kit/store-kit.ts";
import type { RawDatabase, RawTransaction } from "../../../storage/engines/raw.ts";
import { expireAll } from "../../ledger/sql/reaper.ts";
import { quota } from "../../money/quota.ts";
import type { BudgetTerms, Placing } from "../budget.ts";
import { ReservedInMemory } from "./memory.ts";
import { closeBudgets, placeBudgets } from "./sheet.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");
const LIMIT = 100;

let kit: StoreKit;
let raw: RawDatabase;
let terms: BudgetTerms;
beforeAll(async () => {
  kit = await openStoreKit("sqlite::memory:");
  ({ raw } = kit.database);
  const row = { scope: "user", subject: "7", period: "day", time_zone: "UTC", quota_limit: LIMIT, is_hard: 1 } as const;
  await kit.database.db
    .insertInto("budgets")
    .values({ ...row, soft_percent: 0, window_start: 0 })
    .execute();
  [terms] = (await raw.rows<BudgetTerms>("select * from budgets", [])) as [BudgetTerms];
});
afterAll(() => kit.database.close());

function placing(requestId: string, amount: number): Placing {
  const asked = new Set([terms.id]);
  return { requestId, userId: 7, wanted: [terms], amount: quota(amount), wished: undefined, held: undefined, asked };
}

function ofBudget(reserved: ReservedInMemory) {
  const settings = { kind: raw.kind, now: NOW, reserved };
  return {
    place: (tx: RawTransaction, ...all: Placing[]) => placeBudgets(tx, all, settings),
    close: (tx: RawTransaction, requestId: string, charged: number) =>
      closeBudgets(tx, [{ requestId, ids: [terms.id], charged, at: NOW }], settings),
    used: async () => (await raw.rows<{ used: number; held: number }>("select used, held from budgets", []))[0],
  };
}

test("a transaction that does not commit leaves in memory what was there, before another one begins", async () => {
  const reserved = new ReservedInMemory();
  const { place, close, used } = ofBudget(reserved);
  await raw.transaction((tx) => place(tx, placing("a", 60)));
  const failing = raw.transaction(async (tx) => {
    await close(tx, "a", 10);
    expect(await place(tx, placing("b", 90), placing("c", 1))).toMatchObject([{ granted: 90 }, { budget: {} }]);
    throw new Error("the disk is full");
  });
  const next = raw.transaction((tx) => place(tx, placing("d", 41), placing("e", 40)));
  await expect(failing).rejects.toThrow("the disk is full");
  expect(await next).toMatchObject([{ budget: { id: terms.id } }, { granted: 40 }]);
  expect(reserved.in(terms.id)).toBe(LIMIT);
  expect(await used()).toEqual({ used: 0, held: 0 });
  await raw.transaction((tx) => close(tx, "a", 60));
  await raw.transaction((tx) => close(tx, "e", 0));
  expect(reserved.isEmpty).toBe(true);
  expect(reserved.in(terms.id)).toBe(0);
  expect(await used()).toEqual({ used: 60, held: 0 });
});

test("the start of a process returns what a version reserved that wrote rows", async () => {
  await raw.run("update budgets set held = 30", []);
  const row = { request_id: "old", budget_id: terms.id, amount: 30, lease_until: NOW };
  await kit.database.db.insertInto("budget_holds").values(row).execute();
  await expireAll(raw);
  expect(await raw.rows("select * from budget_holds", [])).toEqual([]);
  expect(await raw.rows("select held from budgets", [])).toEqual([{ held: 0 }]);
});
