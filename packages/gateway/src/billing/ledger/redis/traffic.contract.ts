import { createDatabase } from "@fairway/testkit/databases";
import type { Service } from "@fairway/testkit/services";
import { setTimeout as pause } from "node:timers/promises";
import { expect, vi } from "vitest";
import { AppError } from "../../../lib/app-error.ts";
import { audit } from "../../audit/audit.ts";
import {
  type Accounts,
  createTestAccounts,
  type LedgerHarness,
  createLogDetail,
  requestId,
  createSettlement,
} from "../test-harness.contract.ts";
import { isRefusal } from "../ledger.ts";
import { quota } from "../../money/quota.ts";
import { newPrefix, openRedisHarness, type RedisHarness, type RedisHarnessSettings } from "./test-harness.contract.ts";

/** Compares Redis, the database and the ledger for every account; returns the differences. */
export async function books({ redis, database }: Pick<RedisHarness, "redis" | "database">) {
  return (await audit({ redis, database, withSums: true, isRepairing: false, pauseMs: 20 })).differences;
}

/** Returns a ledger whose errors count as refusals, because a client that receives Retry-After has been refused. */
export function treatErrorsAsRefusals({ ledger }: LedgerHarness): LedgerHarness["ledger"] {
  return {
    budgets: ledger.budgets,
    hold: (request) =>
      ledger.hold(request).catch((error: unknown) => {
        if (!(error instanceof AppError)) throw error;
        return { refused: "user", needed: request.amount, available: quota(0) };
      }),
    renew: (hold, seen, amount) => ledger.renew(hold, seen, amount),
    settle: (settlement) => ledger.settle(settlement),
    release: (hold) => ledger.release(hold),
    change: (change) => ledger.change(change),
    changeWith: (work) => ledger.changeWith(work),
    changeAllWith: (work) => ledger.changeAllWith(work),
    deposit: (hold, terms) => ledger.deposit(hold, terms),
    closeDeposit: (close) => ledger.closeDeposit(close),
    // A script may still run shortly after its connection broke.
    reap: () => ledger.reap().catch(() => pause(30).then(() => 0)),
    flush: () => ledger.flush(),
    claimed: (userId, tokenId) => ledger.claimed(userId, tokenId),
    get pending() {
      return ledger.pending;
    },
  };
}

/** Fewer requests would prove nothing about the injected fault. */
const MIN_REQUESTS = 51;
/** Maximum time of a recovery on a busy machine. */
export const RECOVERY_MS = 20_000;

/**
 * Sends requests of one account until the returned function stops them; it waits for enough requests and returns their
 * sum.
 */
export function traffic(harnesses: readonly RedisHarness[], user: number, token: number) {
  let isRunning = true;
  let charged = 0;
  let requests = 0;
  const work = Array.from({ length: 8 }, async (_, worker) => {
    const harness = harnesses[worker % harnesses.length] as RedisHarness;
    while (isRunning) {
      const hold = await harness.ledger
        .hold({ requestId: requestId(), userId: user, tokenId: token, amount: quota(100), isCharged: true })
        .catch(() => undefined);
      await pause(worker);
      if (!hold || isRefusal(hold)) continue;
      if (requests % 7 === 3) await harness.ledger.release(hold);
      else {
        await harness.ledger.settle(
          createSettlement(hold, 70 + worker, { log: createLogDetail(0, { content: hold.requestId }) }),
        );
        charged += 70 + worker;
      }
      requests += 1;
    }
  });
  return async () => {
    while (requests < MIN_REQUESTS) await pause(10);
    isRunning = false;
    await Promise.all(work);
    return charged;
  };
}

export const RICH = 1_000_000_000;

/** Opens two replicas and one account with money. */
export async function openHarnesses(
  service: Service,
  { isPair = true, ...settings }: Partial<RedisHarnessSettings> & { readonly isPair?: boolean } = {},
) {
  const url = await createDatabase("mariadb");
  const shared = { redisUrl: service.url, prefix: newPrefix(), ...settings };
  const harness = await openRedisHarness(url, shared);
  const others = isPair ? [await openRedisHarness(url, { ...shared, clock: harness.clock })] : [];
  const accounts = createTestAccounts(harness);
  const user = await accounts.addUser(RICH);
  const token = await accounts.addToken(user, RICH);
  return { url, shared, harness, harnesses: [harness, ...others], accounts, user, token };
}

export async function expectCharged(
  harnesses: readonly RedisHarness[],
  accounts: Accounts,
  user: number,
  charged: number,
): Promise<void> {
  await vi.waitFor(
    async () => {
      for (const { ledger } of harnesses) await ledger.flush();
      expect(await accounts.user(user)).toMatchObject({ quota: RICH - charged, used_quota: charged });
      const logs = await accounts.logs(user);
      expect(logs.reduce((sum, log) => sum + log.quota, 0)).toBe(charged);
      expect(new Set(logs.map((log) => log.request_id)).size).toBe(logs.length);
      expect(await books(harnesses[0] as RedisHarness)).toEqual([]);
    },
    { timeout: RECOVERY_MS, interval: 200 },
  );
}
