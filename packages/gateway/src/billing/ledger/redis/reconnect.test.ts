import { freshRedis } from "@fairway/testkit/databases";
import { startProxy } from "@fairway/testkit/proxy";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { granted, settlementOf } from "../test-harness.contract.ts";
import { createDataLossDetector } from "./recovery/data-loss-detector.ts";
import type { RedisRig } from "./test-harness.contract.ts";
import { expectCharged, openRigs } from "./traffic.contract.ts";

const RELOADED = "balances in Redis are reloaded";
const linesWith = ({ lines }: RedisRig, text: string) => lines.filter((line) => line.includes(text)).length;

describe("a replaced Redis server", () => {
  it("is detected although it did not answer the first check", { timeout: 40_000 }, async () => {
    const service = await freshRedis({ isDurable: true });
    const proxy = await startProxy(service.port);
    const { rig, accounts, user, token } = await openRigs(service, {
      isPair: false,
      redisUrl: `redis://127.0.0.1:${proxy.port}`,
    });
    await rig.ledger.settle(settlementOf(await granted(rig.ledger, user, token, 50), 7));
    await rig.ledger.flush();
    const before = linesWith(rig, RELOADED);
    let isFirst = true;
    const stop = rig.redis.onReady(() => {
      if (!isFirst) proxy.isStalled = true;
      isFirst = false;
    });
    await service.kill("SIGKILL");
    await service.restart();
    await expect.poll(() => proxy.isStalled, { timeout: 5_000 }).toBe(true);
    stop();
    await pause(6_000);
    proxy.isStalled = false;
    await expect.poll(() => linesWith(rig, RELOADED), { timeout: 8_000 }).toBe(before + 1);
    await expectCharged([rig], accounts, user, 7);
    await rig.close();
    await proxy.stop();
  });

  it("is detected during the replay to the previous server", { timeout: 40_000 }, async () => {
    const service = await freshRedis({ isDurable: true });
    const { rig, accounts, user, token } = await openRigs(service, { isPair: false, part: { barrierMs: 3_000 } });
    await rig.ledger.settle(settlementOf(await granted(rig.ledger, user, token, 50), 7));
    await rig.ledger.flush();
    const before = linesWith(rig, RELOADED);
    for (const round of [1, 2]) {
      await service.kill("SIGKILL");
      await service.restart();
      await expect.poll(() => linesWith(rig, "the journal was replayed to Redis"), { timeout: 15_000 }).toBe(round);
    }
    await expect.poll(() => linesWith(rig, RELOADED), { timeout: 15_000 }).toBe(before + 2);
    await expect
      .poll(() => linesWith(rig, "balances in Redis may be used again"), { timeout: 15_000 })
      .toBe(before + 1);
    await expectCharged([rig], accounts, user, 7);
    expect(linesWith(rig, RELOADED)).toBe(before + 2);
    await rig.close();
  });

  it("is detected although INFO was not permitted in between", { timeout: 20_000 }, async () => {
    const service = await freshRedis();
    const { rig } = await openRigs(service, { isPair: false });
    const loss = createDataLossDetector(rig.redis);
    const mayTell = async (rule: "+info" | "-info") => {
      await rig.redis.one({ command: "acl", args: ["setuser", "default", rule] }, 1_000);
      return loss.check();
    };
    expect(await mayTell("+info")).toBeUndefined();
    expect(await mayTell("-info")).toBeUndefined();
    await service.kill("SIGKILL");
    await service.restart();
    await expect.poll(() => rig.redis.isReady, { timeout: 5_000 }).toBe(true);
    expect(await mayTell("+info")).toContain("another Redis answers");
    expect(await loss.check()).toBeUndefined();
    await rig.close();
  });

  it("is checked again when it was busy", { timeout: 20_000 }, async () => {
    const service = await freshRedis();
    const { rig } = await openRigs(service, { isPair: false });
    const loss = createDataLossDetector(rig.redis);
    await rig.redis.one({ command: "config", args: ["set", "lua-time-limit", 10] }, 1_000);
    const other = rig.redis.open("another");
    await other.ping();
    const endless = other.call("eval", "while true do end", 0).catch(() => undefined);
    await pause(300);
    await expect(loss.check()).rejects.toThrow("BUSY");
    await rig.redis.one({ command: "script", args: ["kill"] }, 1_000);
    await endless;
    expect(await loss.check()).toBeUndefined();
    await rig.close();
  });
});
