import { propertyRuns } from "@fairway/testkit/property-runs";
import { eachDatabase } from "@fairway/testkit/databases";
import fc from "fast-check";
import { expect, it } from "vitest";
import { history, neverOverdraws, play } from "./history.contract.ts";
import { createTestAccounts, granted, type LedgerHarness, createSettlement } from "./test-harness.contract.ts";
import { openSqlHarness } from "./sql/test-harness.contract.ts";

/** Invariants of the SQL ledger tables: held amounts equal open reservations, and admission never overdraws. */
async function checkHeld({ database }: LedgerHarness): Promise<void> {
  for (const [table, column] of [
    ["users", "user_id"],
    ["tokens", "token_id"],
  ]) {
    const sql = `select a.id, a.held, coalesce(sum(h.amount), 0) as open from ${table} a left join holds h on h.${column} = a.id group by a.id, a.held`;
    for (const row of await database.rows<{ held: number; open: number }>(sql, []))
      expect(row.held).toBe(Number(row.open));
  }
}

eachDatabase("any history of the SQL ledger", (open) => {
  it("preserves the money invariants", { timeout: 120_000 }, async () => {
    const harness = await openSqlHarness(await open());
    const accounts = createTestAccounts(harness);
    await fc.assert(
      fc.asyncProperty(history, async (one) => {
        await play(harness, accounts, one);
        await checkHeld(harness);
      }),
      { numRuns: propertyRuns(open.kind === "sqlite" ? 150 : 20), endOnFailure: true },
    );
    await harness.close();
  });

  it("never admits more than the balance for any amounts", async () => {
    const harness = await openSqlHarness(await open());
    await neverOverdraws(harness, propertyRuns(open.kind === "sqlite" ? 100 : 15));
    await harness.close();
  });

  it("stays consistent when replicas settle, reap and reserve on one account at once", async () => {
    const url = await open();
    const harness = await openSqlHarness(url);
    // SQLite has one process.
    const other = open.kind === "sqlite" ? harness : await openSqlHarness(url, { clock: harness.clock });
    const accounts = createTestAccounts(harness);
    const user = await accounts.addUser(1_000_000);
    const token = await accounts.addToken(user, 500_000);
    const channelId = await accounts.addChannel();
    let settled = 0;
    await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const first = index % 2 === 0 ? harness : other;
        const second = index % 3 === 0 ? harness : other;
        const hold = await granted(first.ledger, user, token, 100);
        const seen = createSettlement(hold, 40, { channelId });
        if (index % 4 === 0) await first.ledger.renew(hold, seen);
        if (index % 10 === 0) harness.clock.advance(100);
        const final = createSettlement(hold, index, { channelId });
        await Promise.all([first.ledger.settle(final), second.ledger.settle(final), second.ledger.reap()]);
        settled += index;
      }),
    );
    await other.ledger.flush();
    expect(await accounts.user(user)).toEqual({ quota: 1_000_000 - settled, used_quota: settled, request_count: 60 });
    expect(await accounts.token(token)).toMatchObject({ remain_quota: 500_000 - settled, used_quota: settled });
    expect(await accounts.channelUsed(channelId)).toBe(settled);
    expect(await accounts.logs(user)).toHaveLength(60);
    await checkHeld(harness);
    if (other !== harness) await other.close();
    await harness.close();
  });
});
