import { createDatabase, freshRedis } from "@fairway/testkit/databases";
import { startProxy } from "@fairway/testkit/proxy";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import type { RawDatabase } from "../../../storage/engines/raw.ts";
import { createTestAccounts, granted, requestId, createSettlement } from "../test-harness.contract.ts";
import { quota } from "../../money/quota.ts";
import { newPrefix, openRedisHarness, type RedisHarness } from "./test-harness.contract.ts";
import { books, expectCharged, openHarnesses, RECOVERY_MS, RICH, traffic } from "./traffic.contract.ts";

describe("the ledger when Redis fails", () => {
  it("and restarts with its data: loses nothing and charges nothing twice", { timeout: 60_000 }, async () => {
    const service = await freshRedis({ isDurable: true });
    const { harnesses, accounts, user, token } = await openHarnesses(service);
    const stop = traffic(harnesses, user, token);
    for (let round = 0; round < 3; round += 1) {
      await pause(300);
      await service.kill("SIGKILL");
      await pause(200);
      await service.restart();
    }
    await pause(500);
    const charged = await stop();
    await expectCharged(harnesses, accounts, user, charged);
    for (const harness of harnesses) await harness.close();
  });

  it("and restarts empty: recovers unbooked charges from the journals", { timeout: 60_000 }, async () => {
    const service = await freshRedis();
    let isDown = false;
    const wrap = (raw: RawDatabase): RawDatabase => ({
      ...raw,
      transaction: (work) => (isDown ? Promise.reject(new Error("the database is away")) : raw.transaction(work)),
    });
    const { harnesses, accounts, user, token } = await openHarnesses(service, { wrap, part: { barrierMs: 1_200 } });
    const stop = traffic(harnesses, user, token);
    await pause(300);
    isDown = true;
    await pause(300);
    await service.kill("SIGKILL");
    await service.restart();
    await pause(200);
    isDown = false;
    await pause(2_500);
    const charged = await stop();
    await expectCharged(harnesses, accounts, user, charged);
    expect(harnesses.flatMap(({ lines }) => lines).join("")).toContain("balances in Redis may be used again");
    for (const harness of harnesses) await harness.close();
  });

  it("and is emptied repeatedly while it runs: stays consistent", { timeout: 60_000 }, async () => {
    const service = await freshRedis();
    const { harnesses, accounts, user, token } = await openHarnesses(service, { part: { barrierMs: 300 } });
    const stop = traffic(harnesses, user, token);
    for (let round = 0; round < 4; round += 1) {
      await pause(round * 250 + 150);
      await harnesses[0]?.redis.sendOne({ command: "flushall", args: [] }, 1_000);
    }
    await pause(2_000);
    const charged = await stop();
    await expectCharged(harnesses, accounts, user, charged);
    for (const harness of harnesses) await harness.close();
  });

  it("and restarts with an earlier state: stays consistent", { timeout: 60_000 }, async () => {
    const service = await freshRedis();
    const { harnesses, accounts, user, token } = await openHarnesses(service, { part: { barrierMs: 300 } });
    const [harness] = harnesses as [RedisHarness];
    const stop = traffic(harnesses, user, token);
    await pause(300);
    const before = await granted(harness.ledger, user, token, 50);
    await harness.redis.sendOne({ command: "save", args: [] }, 5_000);
    await pause(400);
    await harness.ledger.settle(createSettlement(before, 5));
    await harness.ledger.change({ requestId: requestId(), kind: "topup", userId: user, quota: quota(1_000) });
    await pause(100);
    await service.kill("SIGKILL");
    await service.restart();
    await pause(2_500);
    const charged = await stop();
    await vi.waitFor(
      async () => {
        for (const { ledger } of harnesses) await ledger.flush();
        expect(await accounts.user(user)).toMatchObject({ quota: RICH - charged - 5 + 1_000, used_quota: charged + 5 });
        expect(await books(harness)).toEqual([]);
      },
      { timeout: RECOVERY_MS, interval: 200 },
    );
    for (const one of harnesses) await one.close();
  });

  it("and newer charges of another replica hide the loss: recovers the lost charges", { timeout: 60_000 }, async () => {
    const service = await freshRedis();
    const proxy = await startProxy(service.port);
    const url = await createDatabase("mariadb");
    let isDown = false;
    const wrap = (raw: RawDatabase): RawDatabase => ({
      ...raw,
      transaction: (work) => (isDown ? Promise.reject(new Error("the database is away")) : raw.transaction(work)),
    });
    const shared = { prefix: newPrefix(), wrap, part: { barrierMs: 300 } };
    const late = await openRedisHarness(url, { ...shared, redisUrl: `redis://127.0.0.1:${proxy.port}` });
    const first = await openRedisHarness(url, { ...shared, redisUrl: service.url, clock: late.clock });
    const accounts = createTestAccounts(late);
    const user = await accounts.addUser(RICH);
    const lost = await granted(late.ledger, user, 0, 50);
    const running = await granted(first.ledger, user, 0, 50);
    await first.redis.sendOne({ command: "save", args: [] }, 5_000);
    isDown = true;
    await late.ledger.settle(createSettlement(lost, 7));
    while (late.ledger.pending > 0) await pause(5);
    Object.assign(proxy, { isClosed: true });
    proxy.cut();
    await service.kill("SIGKILL");
    await service.restart();
    await first.redis.ready(30_000);
    await first.ledger.settle(createSettlement(running, 11));
    while (first.ledger.pending > 0) await pause(5);
    isDown = false;
    await pause(500);
    proxy.isClosed = false;
    await late.redis.ready(30_000);
    await pause(2_500);
    await expectCharged([late, first], accounts, user, 18);
    for (const harness of [late, first]) await harness.close();
    await proxy.stop();
  });

  it(
    "restores the reservations of running requests, so that they cannot be reserved twice",
    { timeout: 30_000 },
    async () => {
      const service = await freshRedis();
      const { harness, accounts } = await openHarnesses(service, { isPair: false });
      const user = await accounts.addUser(100);
      const running = await granted(harness.ledger, user, 0, 80);
      await harness.ledger.renew(running, createSettlement(running, 30));
      await harness.redis.sendOne({ command: "flushall", args: [] }, 1_000);
      const ask = () =>
        harness.ledger.hold({ requestId: requestId(), userId: user, tokenId: 0, amount: quota(50), isCharged: true });
      expect(await ask()).toMatchObject({ refused: "user", available: 20 });
      expect(await harness.ledger.renew(running, createSettlement(running, 40), quota(100))).toBe(true);
      harness.clock.advance(harness.leaseMs);
      expect(await harness.ledger.reap()).toBe(1);
      expect((await accounts.user(user)).quota).toBe(60);
      await harness.ledger.settle(createSettlement(running, 45));
      expect((await accounts.user(user)).quota).toBe(55);
      expect(await books(harness)).toEqual([]);
      await harness.close();
    },
  );
});
