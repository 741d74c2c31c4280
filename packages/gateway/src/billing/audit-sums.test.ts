import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RawDatabase } from "../storage/raw.ts";
import { checkLedgerSums } from "./audit-sums.ts";
import { accountsOf, granted, type LedgerRig, settlementOf } from "./ledger-rig.contract.ts";
import { openSqlRig } from "./sql-rig.contract.ts";

eachDatabase("the sums of the ledger", (open) => {
  let rig: LedgerRig;
  let user: number;
  const charge = async () => {
    await rig.ledger.settle(settlementOf(await granted(rig.ledger, user, 0, 10), 7));
    await rig.ledger.flush();
  };
  beforeAll(async () => {
    rig = await openSqlRig(await open());
    user = await accountsOf(rig).addUser(1_000_000);
    await charge();
  });
  afterAll(() => rig.close());

  test("agree for an account that is charged all the time", async () => {
    const chargedMeanwhile: RawDatabase = {
      ...rig.database,
      async rows<Row>(sql: string, values: Parameters<RawDatabase["rows"]>[1]) {
        await charge();
        const rows = await rig.database.rows<Row>(sql, values);
        await charge();
        return rows;
      },
    };
    expect(await checkLedgerSums(chargedMeanwhile)).toEqual([]);
  });

  test("name the account that used something else, or has no rows", async () => {
    const other = await accountsOf(rig).addUser(5);
    const { used_quota: used } = await accountsOf(rig).user(user);
    await rig.database.run("update users set used_quota = used_quota + 3 where id in (?, ?)", [user, other]);
    expect(await checkLedgerSums(rig.database)).toEqual([
      { what: "ledger sum", account: `user ${user}`, found: used + 3, expected: used },
      { what: "ledger sum", account: `user ${other}`, found: 3, expected: 0 },
    ]);
  });
});
