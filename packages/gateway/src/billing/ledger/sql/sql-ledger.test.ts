import { createDatabase, eachDatabase } from "@fairway/testkit/databases";
import { describe, expect, it } from "vitest";
import { createTestAccounts, granted, createSettlement } from "../test-harness.contract.ts";
import { ledgerContract } from "../ledger.contract.ts";
import { openSqlHarness } from "./test-harness.contract.ts";

eachDatabase("the SQL ledger", (open) => {
  ledgerContract(async () => openSqlHarness(await open()));
});

describe("the SQL ledger with a PostgreSQL log database", () => {
  ledgerContract(async () =>
    openSqlHarness(await createDatabase("sqlite"), { logUrl: await createDatabase("postgres") }),
  );
});

eachDatabase("the SQL ledger's own tables", (open) => {
  it("hold the sum of the open reservations, and zero once they are closed", async () => {
    const harness = await openSqlHarness(await open());
    const accounts = createTestAccounts(harness);
    const user = await accounts.addUser(1000);
    const token = await accounts.addToken(user, 1000);
    const held = async () => {
      const sql =
        "select u.held as of_user, t.held as of_token from users u join tokens t on t.user_id = u.id where u.id = ?";
      return (await harness.database.rows(sql, [user]))[0];
    };
    const first = await granted(harness.ledger, user, token, 100);
    const second = await granted(harness.ledger, user, token, 50);
    expect(await held()).toEqual({ of_user: 150, of_token: 150 });
    await Promise.all([harness.ledger.settle(createSettlement(first, 120)), harness.ledger.release(second)]);
    expect(await held()).toEqual({ of_user: 0, of_token: 0 });
    await harness.close();
  });
});
