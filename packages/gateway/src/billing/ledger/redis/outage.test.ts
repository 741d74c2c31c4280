import { freshRedis } from "@fairway/testkit/databases";
import { startProxy, type Proxy } from "@fairway/testkit/proxy";
import type { Service } from "@fairway/testkit/services";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { granted, createSettlement } from "../test-harness.contract.ts";
import { quota } from "../../money/quota.ts";
import { expectCharged, openHarnesses } from "./traffic.contract.ts";

describe("the ledger while Redis is unavailable", () => {
  let service: Service;
  let proxy: Proxy;
  beforeAll(async () => {
    service = await freshRedis({ isDurable: true });
    proxy = await startProxy(service.port);
  });
  afterAll(() => proxy.stop());
  const away = () => {
    proxy.isClosed = true;
    proxy.cut();
  };
  const back = () => (proxy.isClosed = false);
  const url = () => `redis://127.0.0.1:${proxy.port}`;

  it("refuses new requests in time with a clear error, and settles running ones", { timeout: 30_000 }, async () => {
    const outages: string[] = [];
    const events = { outageHold: (mode: string) => void outages.push(mode), settlementFailed: () => {} };
    const { harness, accounts, user, token } = await openHarnesses(service, {
      isPair: false,
      redisUrl: url(),
      part: { events },
    });
    const running = await granted(harness.ledger, user, token, 100);
    away();
    await pause(50);
    const started = performance.now();
    await expect(granted(harness.ledger, user, token, 10)).rejects.toMatchObject({
      code: "balances_unavailable",
      status: 503,
    });
    expect(performance.now() - started).toBeLessThan(3_000);
    expect(outages).toEqual(["deny"]);
    await expect(harness.ledger.check()).rejects.toThrow(/; new requests are refused$/);
    expect(await harness.ledger.renew(running, createSettlement(running, 10), quota(200))).toBe(true);
    await harness.ledger.settle(createSettlement(running, 42));
    expect(harness.ledger.pending).toBe(1);
    back();
    await expectCharged([harness], accounts, user, 42);
    await harness.ledger.check();
    await harness.close();
  });

  it("waits for a short restart", { timeout: 30_000 }, async () => {
    const { harness, accounts, user, token } = await openHarnesses(service, { isPair: false, redisUrl: url() });
    await granted(harness.ledger, user, token, 10).then((hold) => harness.ledger.release(hold));
    away();
    const answer = granted(harness.ledger, user, token, 10);
    await pause(700);
    back();
    await harness.ledger.settle(createSettlement(await answer, 3));
    await expectCharged([harness], accounts, user, 3);
    await harness.close();
  });

  it(
    "reserves and charges in the database if allowed, and updates the balance in Redis later",
    { timeout: 30_000 },
    async () => {
      const { harness, accounts, user, token } = await openHarnesses(service, {
        isPair: false,
        redisUrl: url(),
        part: { onOutage: "sql" },
      });
      const early = await granted(harness.ledger, user, token, 100);
      away();
      await pause(50);
      const started = performance.now();
      const holds = [
        await granted(harness.ledger, user, token, 10),
        await granted(harness.ledger, user, token, 20),
      ] as const;
      // A request that waits for Redis would take two seconds.
      expect(performance.now() - started).toBeLessThan(3_000);
      const poor = await accounts.addUser(0).catch(() => 0);
      await expect(granted(harness.ledger, poor, 0, 1)).rejects.toThrow("refused: user");
      expect(await harness.ledger.renew(holds[1], createSettlement(holds[1], 5), quota(30))).toBe(true);
      await harness.ledger.settle(createSettlement(holds[0], 7));
      await harness.ledger.settle(createSettlement(early, 90));
      while (harness.ledger.pending > 1) await pause(10);
      back();
      await expectCharged([harness], accounts, user, 97);
      await harness.ledger.settle(createSettlement(holds[1], 8));
      await expectCharged([harness], accounts, user, 105);
      expect(await harness.database.rows("select request_id from holds", [])).toEqual([]);
      await harness.close();
    },
  );

  it("reaps reservations in the database when their process died", { timeout: 30_000 }, async () => {
    const { harness, accounts, user, token } = await openHarnesses(service, {
      isPair: false,
      redisUrl: url(),
      part: { onOutage: "sql" },
    });
    await granted(harness.ledger, user, token, 1).then((hold) => harness.ledger.release(hold));
    away();
    await pause(50);
    const hold = await granted(harness.ledger, user, token, 100);
    const unused = await granted(harness.ledger, user, token, 100);
    await harness.ledger.renew(hold, createSettlement(hold, 60));
    back();
    harness.clock.advance(harness.leaseMs);
    expect(await harness.ledger.reap()).toBe(2);
    await expectCharged([harness], accounts, user, 60);
    await harness.ledger.settle(createSettlement(hold, 50));
    await harness.ledger.release(unused);
    await expectCharged([harness], accounts, user, 50);
    await harness.close();
  });

  it(
    "adds less than 50 ms to a request when Redis takes seconds and the database is allowed",
    { timeout: 30_000 },
    async () => {
      const { harness, accounts, user, token } = await openHarnesses(service, {
        isPair: false,
        redisUrl: url(),
        part: { onOutage: "sql" },
      });
      await granted(harness.ledger, user, token, 10).then((hold) => harness.ledger.settle(createSettlement(hold, 1)));
      await harness.ledger.flush();
      proxy.delayMs = 1_000;
      const added: number[] = [];
      for (let at = 0; at < 5; at += 1) {
        const started = performance.now();
        const hold = await granted(harness.ledger, user, token, 10);
        added.push(performance.now() - started);
        await harness.ledger.settle(createSettlement(hold, 2));
      }
      // 50 ms for Redis, the rest for the database on a busy machine; a Redis round trip takes two seconds.
      expect(Math.max(...added)).toBeLessThan(1_500);
      expect(Math.min(...added)).toBeLessThan(400);
      proxy.delayMs = 0;
      await pause(2_500);
      await expectCharged([harness], accounts, user, 11);
      await harness.close();
    },
  );

  it("waits for Redis once before a call and never afterwards", { timeout: 30_000 }, async () => {
    const { harness, accounts, user, token } = await openHarnesses(service, { isPair: false, redisUrl: url() });
    await granted(harness.ledger, user, token, 10).then((hold) => harness.ledger.release(hold));
    proxy.delayMs = 150;
    const before: number[] = [];
    const after: number[] = [];
    for (let at = 0; at < 3; at += 1) {
      const started = performance.now();
      const hold = await granted(harness.ledger, user, token, 10);
      const held = performance.now();
      await harness.ledger.settle(createSettlement(hold, 2));
      before.push(held - started);
      after.push(performance.now() - held);
    }
    proxy.delayMs = 0;
    // A round trip is twice the delay.
    expect(Math.min(...before)).toBeGreaterThanOrEqual(295);
    expect(Math.min(...before)).toBeLessThan(590);
    expect(Math.min(...after)).toBeLessThan(140);
    await expectCharged([harness], accounts, user, 6);
    await harness.close();
  });
});
