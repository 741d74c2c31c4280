import { freshRedis } from "@fairway/testkit/databases";
import type { Service } from "@fairway/testkit/services";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { quietLog } from "../../../../test/kit/support.ts";
import { ledgerAuditJob } from "../../../jobs/ledger-audit.ts";
import { granted, requestId, createSettlement } from "../test-harness.contract.ts";
import { forgetIdle } from "./live-accounts.ts";
import { quota } from "../../money/quota.ts";
import { books, expectCharged, openHarnesses, RICH } from "./traffic.contract.ts";

const DAY_SECONDS = 86_400;

let service: Service;
beforeAll(async () => {
  service = await freshRedis();
});

describe("unused accounts in Redis", () => {
  let harnesses: Awaited<ReturnType<typeof openHarnesses>>;
  beforeEach(async () => {
    harnesses = await openHarnesses(service, { isPair: false });
  });
  afterEach(() => harnesses.harness.close());

  const round = async () => {
    const { redis, database } = harnesses.harness;
    const metrics = { ledgerAudited: (differences: number) => expect(differences).toBe(0) };
    const job = ledgerAuditJob({ redis, database, clock: { now: () => Date.now() }, log: quietLog, metrics });
    await job.run(AbortSignal.timeout(10_000), () => Promise.resolve());
  };
  const spend = async (userId: number, tokenId: number, amount: number) => {
    const { ledger } = harnesses.harness;
    await ledger.settle(createSettlement(await granted(ledger, userId, tokenId, 100), amount));
    await ledger.flush();
  };
  const buildBalanceKey = (userId: number, tokenId = 0) => {
    const { keys } = harnesses.harness.redis;
    return tokenId === 0 ? keys.user(userId) : keys.token(userId, tokenId);
  };
  const ask = (command: string, ...args: (string | number)[]) =>
    harnesses.harness.redis.sendOne({ command, args }, 2_000);
  const isKnown = async (userId: number, tokenId = 0) => (await ask("exists", buildBalanceKey(userId, tokenId))) === 1;
  const dayPasses = async (...accounts: (readonly [userId: number, tokenId?: number])[]) => {
    for (const account of accounts) {
      const mark = await ask("hget", buildBalanceKey(...account), "m");
      if (typeof mark !== "string") continue;
      const [since, ...state] = mark.split(" ");
      await ask("hset", buildBalanceKey(...account), "m", [Number(since) - DAY_SECONDS, ...state].join(" "));
    }
  };

  it("are removed after a day and loaded again at the next use", async () => {
    const { harness, accounts, user, token } = harnesses;
    await spend(user, token, 10);
    await round();
    await round();
    expect([await isKnown(user), await isKnown(user, token)]).toEqual([true, true]);
    await dayPasses([user], [user, token]);
    await round();
    expect([await isKnown(user), await isKnown(user, token)]).toEqual([false, false]);
    expect(await books(harness)).toEqual([]);
    await spend(user, token, 7);
    await expectCharged([harness], accounts, user, 17);
    expect((await accounts.token(token)).remain_quota).toBe(RICH - 17);
  });

  it("stay while they have held amounts", async () => {
    const { harness, accounts, user, token } = harnesses;
    await spend(user, token, 10);
    await round();
    const hold = await granted(harness.ledger, user, token, 100);
    await dayPasses([user], [user, token]);
    await round();
    expect([await isKnown(user), await isKnown(user, token)]).toEqual([true, true]);
    await harness.ledger.settle(createSettlement(hold, 5));
    await expectCharged([harness], accounts, user, 15);
  });

  it("stay when they were used between two rounds, until they are unused for a day", async () => {
    const { user, token } = harnesses;
    await spend(user, token, 10);
    await round();
    await dayPasses([user], [user, token]);
    await spend(user, 0, 1);
    await round();
    expect([await isKnown(user), await isKnown(user, token)]).toEqual([true, false]);
    await dayPasses([user]);
    await round();
    expect(await isKnown(user)).toBe(false);
  });

  it("stay when they changed and were not loaded since", async () => {
    const { harness, accounts } = harnesses;
    const user = await accounts.addUser(0);
    const topUp = () =>
      harness.ledger.change({ requestId: requestId(), kind: "topup", userId: user, quota: quota(1_000) });
    await topUp();
    const oneMoreDay = async () => {
      await round();
      await dayPasses([user]);
      await round();
    };
    await oneMoreDay();
    expect(await ask("hgetall", buildBalanceKey(user))).toEqual({ n: "1" });
    await spend(user, 0, 10);
    await oneMoreDay();
    expect(await isKnown(user)).toBe(false);
    await topUp();
    await spend(user, 0, 10);
    expect((await accounts.user(user)).quota).toBe(1_980);
    expect(await books(harness)).toEqual([]);
  });
});

it("removing accounts while others are used again keeps all balances consistent", { timeout: 30_000 }, async () => {
  const { harnesses, accounts } = await openHarnesses(service);
  const users: number[] = [];
  for (let at = 0; at < 24; at += 1) users.push(await accounts.addUser(RICH));
  const work = users.map(async (user, at) => {
    for (let use = 0; use < 4; use += 1) {
      const { ledger } = harnesses[(at + use) % 2] as (typeof harnesses)[number];
      const hold = await granted(ledger, user, 0, 100);
      await pause(at);
      await ledger.settle(createSettlement(hold, 10));
      await pause(900 + at * 10);
    }
  });
  let isRunning = true;
  const forgetting = (async () => {
    let forgotten = 0;
    for (; isRunning; await pause(5))
      forgotten += await forgetIdle((harnesses[0] as (typeof harnesses)[number]).redis, 1);
    return forgotten;
  })();
  await Promise.all(work);
  isRunning = false;
  expect(await forgetting).toBeGreaterThan(users.length);
  for (const user of users) await expectCharged(harnesses, accounts, user, 40);
  for (const harness of harnesses) await harness.close();
});
