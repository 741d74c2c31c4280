import { propertyRuns } from "@fairway/testkit/property-runs";
import { eachDatabase, freshRedis } from "@fairway/testkit/databases";
import fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import { audit } from "../../audit/audit.ts";
import { history, neverOverdraws, play } from "../history.contract.ts";
import { createTestAccounts, granted, type LedgerHarness, createSettlement } from "../test-harness.contract.ts";
import { newPrefix, openRedisHarness, type RedisHarness } from "./test-harness.contract.ts";

let redisUrl: string;
beforeAll(async () => {
  redisUrl = (await freshRedis()).url;
});

/** Expects Redis, the database and the ledger to agree about every account. */
async function checkBooks({ redis, database }: RedisHarness): Promise<void> {
  const report = await audit({ redis, database, withSums: true, isRepairing: false, pauseMs: 10 });
  expect(report.differences).toEqual([]);
  expect(report.busy).toBe(0);
}

eachDatabase("any history of the ledger on Redis", (open) => {
  it("preserves the money invariants", { timeout: 120_000 }, async () => {
    const harness = await openRedisHarness(await open(), { redisUrl });
    const accounts = createTestAccounts(harness);
    await fc.assert(
      fc.asyncProperty(history, async (one) => {
        await play(harness, accounts, one);
        await checkBooks(harness);
      }),
      { numRuns: propertyRuns(open.kind === "sqlite" ? 100 : 20), endOnFailure: true },
    );
    await harness.close();
  });

  it("preserves them with two replicas that share the steps", { timeout: 120_000 }, async () => {
    const url = await open();
    const prefix = newPrefix();
    const harness = await openRedisHarness(url, { redisUrl, prefix });
    const other = await openRedisHarness(url, { redisUrl, prefix, clock: harness.clock });
    const accounts = createTestAccounts(harness);
    const shared = { ...harness, ledger: alternating(harness, other) };
    await fc.assert(
      fc.asyncProperty(history, async (one) => {
        await play(shared, accounts, one);
        await checkBooks(harness);
      }),
      { numRuns: propertyRuns(open.kind === "sqlite" ? 60 : 12), endOnFailure: true },
    );
    await other.close();
    await harness.close();
  });

  it("stays consistent when replicas settle, reap and reserve on one account at once", async () => {
    const url = await open();
    const prefix = newPrefix();
    const harness = await openRedisHarness(url, { redisUrl, prefix });
    const other = await openRedisHarness(url, { redisUrl, prefix, clock: harness.clock });
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
    await checkBooks(harness);
    await other.close();
    await harness.close();
  });

  it("never admits more than the balance for any amounts", async () => {
    const harness = await openRedisHarness(await open(), { redisUrl });
    await neverOverdraws(harness, propertyRuns(open.kind === "sqlite" ? 50 : 15));
    await harness.close();
  });
});

/** Alternates the calls between two replicas; a flush flushes both. */
function alternating(first: LedgerHarness, second: LedgerHarness): LedgerHarness["ledger"] {
  let turn = 0;
  const next = () => ((turn += 1) % 2 === 0 ? first.ledger : second.ledger);
  return {
    budgets: first.ledger.budgets,
    hold: (request) => next().hold(request),
    renew: (hold, seen, amount) => next().renew(hold, seen, amount),
    settle: (settlement) => next().settle(settlement),
    release: (hold) => next().release(hold),
    change: (change) => next().change(change),
    changeWith: (work) => next().changeWith(work),
    changeAllWith: (work) => next().changeAllWith(work),
    deposit: (hold, terms) => next().deposit(hold, terms),
    closeDeposit: (close) => next().closeDeposit(close),
    reap: () => next().reap(),
    claimed: (userId, tokenId) => next().claimed(userId, tokenId),
    flush: async () => {
      await first.ledger.flush();
      await second.ledger.flush();
      await first.ledger.flush();
    },
    get pending() {
      return first.ledger.pending + second.ledger.pending;
    },
  };
}
