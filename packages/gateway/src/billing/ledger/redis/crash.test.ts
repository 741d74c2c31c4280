import { createDatabase, freshRedis } from "@fairway/testkit/databases";
import { startProxy } from "@fairway/testkit/proxy";
import type { Service } from "@fairway/testkit/services";
import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { RawDatabase } from "../../../storage/engines/raw.ts";
import { createLogDetail, createTestAccounts, granted, createSettlement } from "../test-harness.contract.ts";
import { newPrefix, openRedisHarness } from "./test-harness.contract.ts";
import { expectCharged, RICH } from "./traffic.contract.ts";

describe("a process that crashes", () => {
  let service: Service;
  beforeAll(async () => {
    service = await freshRedis({ isDurable: true });
  });

  it("between commit and acknowledgement does not charge twice", { timeout: 30_000 }, async () => {
    const url = await createDatabase("mariadb");
    const shared = { redisUrl: service.url, prefix: newPrefix(), part: { abandonedMs: 200 } };
    let hangs = false;
    // The commit succeeds, but its answer is lost.
    const wrap = (raw: RawDatabase): RawDatabase => ({
      ...raw,
      transaction: async (work) => {
        const answer = await raw.transaction(work);
        return hangs ? new Promise(() => {}) : answer;
      },
    });
    const doomed = await openRedisHarness(url, { ...shared, wrap });
    const accounts = createTestAccounts({ ...doomed, ledger: { ...doomed.ledger, flush: () => Promise.resolve() } });
    const user = await accounts.addUser(RICH);
    const holds = await Promise.all(Array.from({ length: 20 }, () => granted(doomed.ledger, user, 0, 10)));
    hangs = true;
    await Promise.all(holds.map((hold) => doomed.ledger.settle(createSettlement(hold, 7))));
    while ((await accounts.user(user)).quota === RICH) await pause(10);
    await doomed.crash();
    const harness = await openRedisHarness(url, { ...shared, clock: doomed.clock, journalDir: doomed.journalDir });
    await expectCharged([harness], createTestAccounts(harness), user, 140);
    await harness.close();
  });

  it("recovers settlements that never reached Redis from its journal", { timeout: 30_000 }, async () => {
    const proxy = await startProxy(service.port);
    const url = await createDatabase("mariadb");
    const prefix = newPrefix();
    const doomed = await openRedisHarness(url, { redisUrl: `redis://127.0.0.1:${proxy.port}`, prefix });
    const accounts = createTestAccounts(doomed);
    const user = await accounts.addUser(RICH);
    const holds = await Promise.all(Array.from({ length: 20 }, () => granted(doomed.ledger, user, 0, 10)));
    proxy.isStalled = true;
    await Promise.all(holds.map((hold) => doomed.ledger.settle(createSettlement(hold, 7))));
    expect(doomed.ledger.pending).toBe(20);
    await doomed.crash();
    await proxy.stop();
    // A process on another machine has its own folder; the restarted process uses this folder.
    const other = await openRedisHarness(url, { redisUrl: service.url, prefix, clock: doomed.clock });
    await other.ledger.flush();
    expect((await createTestAccounts(other).user(user)).quota).toBe(RICH);
    const harness = await openRedisHarness(url, {
      redisUrl: service.url,
      prefix,
      clock: doomed.clock,
      journalDir: doomed.journalDir,
    });
    await expectCharged([harness], createTestAccounts(harness), user, 140);
    for (const one of [harness, other]) await one.close();
  });

  it("is charged by the reaper and corrected once from its journal", { timeout: 30_000 }, async () => {
    const proxy = await startProxy(service.port);
    const url = await createDatabase("mariadb");
    const prefix = newPrefix();
    const doomed = await openRedisHarness(url, { redisUrl: `redis://127.0.0.1:${proxy.port}`, prefix });
    const accounts = createTestAccounts(doomed);
    const user = await accounts.addUser(RICH);
    const hold = await granted(doomed.ledger, user, 0, 100);
    await doomed.ledger.renew(hold, createSettlement(hold, 30));
    proxy.isStalled = true;
    await doomed.ledger.settle(createSettlement(hold, 45));
    await doomed.crash();
    await proxy.stop();
    const other = await openRedisHarness(url, { redisUrl: service.url, prefix, clock: doomed.clock });
    other.clock.advance(other.leaseMs);
    expect(await other.ledger.reap()).toBe(1);
    await expectCharged([other], createTestAccounts(other), user, 30);
    const harness = await openRedisHarness(url, {
      redisUrl: service.url,
      prefix,
      clock: doomed.clock,
      journalDir: doomed.journalDir,
    });
    await expectCharged([harness], createTestAccounts(harness), user, 45);
    for (const one of [harness, other]) await one.close();
  });

  it.each(["before", "after"])(
    "while Redis is emptied %s the next start: charges open requests at their last report",
    { timeout: 30_000 },
    async (when) => {
      const url = await createDatabase("mariadb");
      const shared = { redisUrl: service.url, prefix: newPrefix() };
      const wipe = async () => {
        const redis = new Redis(service.url);
        const keys = await redis.keys(`*${shared.prefix}*`);
        if (keys.length > 0) await redis.del(keys);
        redis.disconnect();
        return keys.length;
      };
      const doomed = await openRedisHarness(url, shared);
      const accounts = createTestAccounts(doomed);
      const user = await accounts.addUser(RICH);
      const holds = await Promise.all(Array.from({ length: 33 }, () => granted(doomed.ledger, user, 0, 100)));
      for (const cost of [10, 20])
        await Promise.all(
          holds.map((hold) => doomed.ledger.renew(hold, createSettlement(hold, cost, { log: createLogDetail(0) }))),
        );
      const [settled, released] = [holds.slice(0, 10), holds.slice(10, 20)];
      await Promise.all(
        settled.map((hold) => doomed.ledger.settle(createSettlement(hold, 25, { log: createLogDetail(0) }))),
      );
      await Promise.all(released.map((hold) => doomed.ledger.release(hold)));
      await doomed.crash();
      if (when === "before") expect(await wipe()).toBeGreaterThan(0);
      const next = { ...shared, clock: doomed.clock, journalDir: doomed.journalDir };
      const harness = await openRedisHarness(url, next);
      if (when === "after") {
        await vi.waitFor(() => expect(harness.lines.join("")).toContain("charged at their last reported usage"));
        await harness.ledger.flush();
        await wipe();
      }
      await expectCharged([harness], createTestAccounts(harness), user, 10 * 25 + 13 * 20);
      await harness.crash();
      // Nothing is charged again from files that were read before.
      const again = await openRedisHarness(url, next);
      await expectCharged([again], createTestAccounts(again), user, 10 * 25 + 13 * 20);
      await again.close();
    },
  );
});
