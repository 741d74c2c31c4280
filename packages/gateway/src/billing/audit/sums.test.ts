import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RawDatabase } from "../../storage/engines/raw.ts";
import { checkBalances } from "./balances.ts";
import { checkLedgerSums } from "./sums.ts";
import { createTestAccounts, granted, type LedgerHarness, createSettlement } from "../ledger/test-harness.contract.ts";
import { quota } from "../money/quota.ts";
import { openSqlHarness } from "../ledger/sql/test-harness.contract.ts";

eachDatabase("the sums of the ledger", (open) => {
  let harness: LedgerHarness;
  let user: number;
  const charge = async () => {
    await harness.ledger.settle(createSettlement(await granted(harness.ledger, user, 0, 10), 7));
    await harness.ledger.flush();
  };
  beforeAll(async () => {
    harness = await openSqlHarness(await open());
    user = await createTestAccounts(harness).addUser(1_000_000);
    await charge();
  });
  afterAll(() => harness.close());

  test("agree for an account that is charged all the time", async () => {
    const chargedMeanwhile: RawDatabase = {
      ...harness.database,
      async rows<Row>(sql: string, values: Parameters<RawDatabase["rows"]>[1]) {
        await charge();
        const rows = await harness.database.rows<Row>(sql, values);
        await charge();
        return rows;
      },
    };
    expect(await checkLedgerSums(chargedMeanwhile)).toEqual([]);
  });

  test("name the account that used something else, or has no rows", async () => {
    const other = await createTestAccounts(harness).addUser(5);
    const { used_quota: used } = await createTestAccounts(harness).user(user);
    await harness.database.run("update users set used_quota = used_quota + 3 where id in (?, ?)", [user, other]);
    expect(await checkLedgerSums(harness.database)).toEqual([
      { what: "ledger sum", account: `user ${user}`, found: used + 3, expected: used },
      { what: "ledger sum", account: `user ${other}`, found: 3, expected: 0 },
    ]);
  });

  test("find balances and reservations that no row explains, and put right what they name", async () => {
    const accounts = createTestAccounts(harness);
    const rich = await accounts.addUser(0);
    await harness.ledger.change({ requestId: "first", kind: "topup", userId: rich, quota: quota(1000) });
    const token = await accounts.addToken(rich, 500);
    await harness.ledger.settle(createSettlement(await granted(harness.ledger, rich, token, 100), 70));
    const open = await granted(harness.ledger, rich, token, 40);
    await harness.ledger.flush();
    const check = async (isRepairing: boolean) => {
      const named = new Set([`user ${rich}`, `token ${token}`]);
      return (await checkBalances(harness.database, isRepairing)).filter(({ account }) => named.has(account));
    };
    expect(await check(false)).toEqual([]);
    await harness.database.run("update users set quota = quota + 5 where id = ?", [rich]);
    await harness.database.run("update users set held = held - 1 where id = ?", [rich]);
    await harness.database.run("update tokens set held = 9 where id = ?", [token]);
    const found = await check(true);
    expect(found).toEqual([
      { what: "balance", account: `user ${rich}`, found: 935, expected: 930 },
      { what: "reservations", account: `user ${rich}`, found: 39, expected: 40 },
      { what: "reservations", account: `token ${token}`, found: 9, expected: 40 },
    ]);
    expect(await check(false)).toEqual([]);
    await harness.ledger.settle(createSettlement(open, 30));
    expect(await accounts.user(rich)).toMatchObject({ quota: 900, used_quota: 100 });
    expect(await check(false)).toEqual([]);
  });
});
