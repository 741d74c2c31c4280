import { freshRedis } from "@fairway/testkit/databases";
import { startProxy, type Proxy } from "@fairway/testkit/proxy";
import type { Service } from "@fairway/testkit/services";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { granted, settlementOf } from "../test-harness.contract.ts";
import { quota } from "../../money/quota.ts";
import { expectCharged, openRigs } from "./traffic.contract.ts";

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
    const { rig, accounts, user, token } = await openRigs(service, {
      isPair: false,
      redisUrl: url(),
      part: { events },
    });
    const running = await granted(rig.ledger, user, token, 100);
    away();
    await pause(50);
    const started = performance.now();
    await expect(granted(rig.ledger, user, token, 10)).rejects.toMatchObject({
      code: "balances_unavailable",
      status: 503,
    });
    expect(performance.now() - started).toBeLessThan(3_000);
    expect(outages).toEqual(["deny"]);
    await expect(rig.ledger.check()).rejects.toThrow(/; new requests are refused$/);
    expect(await rig.ledger.renew(running, settlementOf(running, 10), quota(200))).toBe(true);
    await rig.ledger.settle(settlementOf(running, 42));
    expect(rig.ledger.pending).toBe(1);
    back();
    await expectCharged([rig], accounts, user, 42);
    await rig.ledger.check();
    await rig.close();
  });

  it("waits for a short restart", { timeout: 30_000 }, async () => {
    const { rig, accounts, user, token } = await openRigs(service, { isPair: false, redisUrl: url() });
    await granted(rig.ledger, user, token, 10).then((hold) => rig.ledger.release(hold));
    away();
    const answer = granted(rig.ledger, user, token, 10);
    await pause(700);
    back();
    await rig.ledger.settle(settlementOf(await answer, 3));
    await expectCharged([rig], accounts, user, 3);
    await rig.close();
  });

  it(
    "reserves and charges in the database if allowed, and updates the balance in Redis later",
    { timeout: 30_000 },
    async () => {
      const { rig, accounts, user, token } = await openRigs(service, {
        isPair: false,
        redisUrl: url(),
        part: { onOutage: "sql" },
      });
      const early = await granted(rig.ledger, user, token, 100);
      away();
      await pause(50);
      const started = performance.now();
      const holds = [await granted(rig.ledger, user, token, 10), await granted(rig.ledger, user, token, 20)] as const;
      // A request that waits for Redis would take two seconds.
      expect(performance.now() - started).toBeLessThan(3_000);
      const poor = await accounts.addUser(0).catch(() => 0);
      await expect(granted(rig.ledger, poor, 0, 1)).rejects.toThrow("refused: user");
      expect(await rig.ledger.renew(holds[1], settlementOf(holds[1], 5), quota(30))).toBe(true);
      await rig.ledger.settle(settlementOf(holds[0], 7));
      await rig.ledger.settle(settlementOf(early, 90));
      while (rig.ledger.pending > 1) await pause(10);
      back();
      await expectCharged([rig], accounts, user, 97);
      await rig.ledger.settle(settlementOf(holds[1], 8));
      await expectCharged([rig], accounts, user, 105);
      expect(await rig.database.rows("select request_id from holds", [])).toEqual([]);
      await rig.close();
    },
  );

  it("reaps reservations in the database when their process died", { timeout: 30_000 }, async () => {
    const { rig, accounts, user, token } = await openRigs(service, {
      isPair: false,
      redisUrl: url(),
      part: { onOutage: "sql" },
    });
    await granted(rig.ledger, user, token, 1).then((hold) => rig.ledger.release(hold));
    away();
    await pause(50);
    const hold = await granted(rig.ledger, user, token, 100);
    const unused = await granted(rig.ledger, user, token, 100);
    await rig.ledger.renew(hold, settlementOf(hold, 60));
    back();
    rig.clock.advance(rig.leaseMs);
    expect(await rig.ledger.reap()).toBe(2);
    await expectCharged([rig], accounts, user, 60);
    await rig.ledger.settle(settlementOf(hold, 50));
    await rig.ledger.release(unused);
    await expectCharged([rig], accounts, user, 50);
    await rig.close();
  });

  it(
    "adds less than 50 ms to a request when Redis takes seconds and the database is allowed",
    { timeout: 30_000 },
    async () => {
      const { rig, accounts, user, token } = await openRigs(service, {
        isPair: false,
        redisUrl: url(),
        part: { onOutage: "sql" },
      });
      await granted(rig.ledger, user, token, 10).then((hold) => rig.ledger.settle(settlementOf(hold, 1)));
      await rig.ledger.flush();
      proxy.delayMs = 1_000;
      const added: number[] = [];
      for (let at = 0; at < 5; at += 1) {
        const started = performance.now();
        const hold = await granted(rig.ledger, user, token, 10);
        added.push(performance.now() - started);
        await rig.ledger.settle(settlementOf(hold, 2));
      }
      // 50 ms for Redis, the rest for the database on a busy machine; a Redis round trip takes two seconds.
      expect(Math.max(...added)).toBeLessThan(1_500);
      expect(Math.min(...added)).toBeLessThan(400);
      proxy.delayMs = 0;
      await pause(2_500);
      await expectCharged([rig], accounts, user, 11);
      await rig.close();
    },
  );

  it("waits for Redis once before a call and never afterwards", { timeout: 30_000 }, async () => {
    const { rig, accounts, user, token } = await openRigs(service, { isPair: false, redisUrl: url() });
    await granted(rig.ledger, user, token, 10).then((hold) => rig.ledger.release(hold));
    proxy.delayMs = 150;
    const before: number[] = [];
    const after: number[] = [];
    for (let at = 0; at < 3; at += 1) {
      const started = performance.now();
      const hold = await granted(rig.ledger, user, token, 10);
      const held = performance.now();
      await rig.ledger.settle(settlementOf(hold, 2));
      before.push(held - started);
      after.push(performance.now() - held);
    }
    proxy.delayMs = 0;
    // A round trip is twice the delay.
    expect(Math.min(...before)).toBeGreaterThanOrEqual(295);
    expect(Math.min(...before)).toBeLessThan(590);
    expect(Math.min(...after)).toBeLessThan(140);
    await expectCharged([rig], accounts, user, 6);
    await rig.close();
  });
});
