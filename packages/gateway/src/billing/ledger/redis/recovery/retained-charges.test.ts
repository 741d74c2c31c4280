import { createDatabase, freshRedis } from "@fairway/testkit/databases";
import { rmSync } from "node:fs";
import { expect, it, vi } from "vitest";
import { rememberState } from "../../lost-commits/went-back.contract.ts";
import { createSettlement, createTestAccounts, granted } from "../../test-harness.contract.ts";
import { newPrefix, openRedisHarness, type RedisHarness } from "../test-harness.contract.ts";
import { books, expectCharged, RICH } from "../traffic.contract.ts";

const RETAINED = { barrierMs: 300, retainMs: 600_000 };
const CHARGES = 5;

/** A replica dies, and its disk with it. */
async function lose(harness: RedisHarness): Promise<void> {
  await harness.crash();
  rmSync(harness.journalDir, { recursive: true });
}

async function openScene(part: typeof RETAINED | { readonly barrierMs: number } = RETAINED) {
  const url = await createDatabase("postgres");
  const { url: redisUrl } = await freshRedis();
  const shared = { redisUrl, prefix: newPrefix(), part };
  const lost = await openRedisHarness(url, shared);
  const open = () => openRedisHarness(url, { ...shared, clock: lost.clock });
  const accounts = createTestAccounts(lost);
  const user = await accounts.addUser(RICH);
  const token = await accounts.addToken(user, RICH);
  await lost.ledger.settle(createSettlement(await granted(lost.ledger, user, token, 100), 7));
  await lost.ledger.flush();
  const goBack = await rememberState(lost.database);
  const charge = async () => {
    for (let at = 0; at < CHARGES; at += 1)
      await lost.ledger.settle(createSettlement(await granted(lost.ledger, user, token, 100), 10));
    await lost.ledger.flush();
  };
  return { lost, open, user, goBack, charge };
}

it("charges of a replica that is lost with its disk are booked again by another one", { timeout: 60_000 }, async () => {
  const { lost, open, user, goBack, charge } = await openScene();
  const other = await open();
  await charge();
  await goBack();
  await lose(lost);
  other.ledger.databaseWentBack();
  const accounts = createTestAccounts(other);
  await expectCharged([other], accounts, user, 7 + 10 * CHARGES);
  // A second time changes nothing.
  other.ledger.databaseWentBack();
  await expectCharged([other], accounts, user, 7 + 10 * CHARGES);
  await other.close();
});

it("a process that starts after all were lost notices that the database went back", { timeout: 60_000 }, async () => {
  const { lost, open, user, goBack, charge } = await openScene();
  await charge();
  await goBack();
  await lose(lost);
  const next = await open();
  await expectCharged([next], createTestAccounts(next), user, 7 + 10 * CHARGES);
  await next.close();
});

it("Redis retains nothing without the option", { timeout: 60_000 }, async () => {
  const { lost, charge } = await openScene({ barrierMs: 300 });
  await charge();
  const keys = await lost.redis.sendOne({ command: "keys", args: ["*retained"] }, 2_000);
  expect(keys).toEqual([]);
  await vi.waitFor(async () => expect(await books(lost)).toEqual([]));
  await lost.close();
});
