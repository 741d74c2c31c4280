import { freshRedis } from "@fairway/testkit/databases";
import { startProxy } from "@fairway/testkit/proxy";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { granted, createSettlement } from "../test-harness.contract.ts";
import { createDataLossDetector } from "./recovery/data-loss-detector.ts";
import type { RedisHarness } from "./test-harness.contract.ts";
import { expectCharged, openHarnesses } from "./traffic.contract.ts";

const RELOADED = "balances in Redis are reloaded";
const linesWith = ({ lines }: RedisHarness, text: string) => lines.filter((line) => line.includes(text)).length;

describe("a replaced Redis server", () => {
  it("is detected although it did not answer the first check", { timeout: 40_000 }, async () => {
    const service = await freshRedis({ isDurable: true });
    const proxy = await startProxy(service.port);
    const { harness, accounts, user, token } = await openHarnesses(service, {
      isPair: false,
      redisUrl: `redis://127.0.0.1:${proxy.port}`,
    });
    await harness.ledger.settle(createSettlement(await granted(harness.ledger, user, token, 50), 7));
    await harness.ledger.flush();
    const before = linesWith(harness, RELOADED);
    let isFirst = true;
    const stop = harness.redis.onReady(() => {
      if (!isFirst) proxy.isStalled = true;
      isFirst = false;
    });
    await service.kill("SIGKILL");
    await service.restart();
    await expect.poll(() => proxy.isStalled, { timeout: 5_000 }).toBe(true);
    stop();
    await pause(6_000);
    proxy.isStalled = false;
    await expect.poll(() => linesWith(harness, RELOADED), { timeout: 8_000 }).toBe(before + 1);
    await expectCharged([harness], accounts, user, 7);
    await harness.close();
    await proxy.stop();
  });

  it("is detected during the replay to the previous server", { timeout: 40_000 }, async () => {
    const service = await freshRedis({ isDurable: true });
    const { harness, accounts, user, token } = await openHarnesses(service, {
      isPair: false,
      part: { barrierMs: 3_000 },
    });
    await harness.ledger.settle(createSettlement(await granted(harness.ledger, user, token, 50), 7));
    await harness.ledger.flush();
    const before = linesWith(harness, RELOADED);
    for (const round of [1, 2]) {
      await service.kill("SIGKILL");
      await service.restart();
      await expect.poll(() => linesWith(harness, "the journal was replayed to Redis"), { timeout: 15_000 }).toBe(round);
    }
    await expect.poll(() => linesWith(harness, RELOADED), { timeout: 15_000 }).toBe(before + 2);
    await expect
      .poll(() => linesWith(harness, "balances in Redis may be used again"), { timeout: 15_000 })
      .toBe(before + 1);
    await expectCharged([harness], accounts, user, 7);
    expect(linesWith(harness, RELOADED)).toBe(before + 2);
    await harness.close();
  });

  it("is detected although INFO was not permitted in between", { timeout: 20_000 }, async () => {
    const service = await freshRedis();
    const { harness } = await openHarnesses(service, { isPair: false });
    const loss = createDataLossDetector(harness.redis);
    const mayTell = async (rule: "+info" | "-info") => {
      await harness.redis.sendOne({ command: "acl", args: ["setuser", "default", rule] }, 1_000);
      return loss.check();
    };
    expect(await mayTell("+info")).toBeUndefined();
    expect(await mayTell("-info")).toBeUndefined();
    await service.kill("SIGKILL");
    await service.restart();
    await expect.poll(() => harness.redis.isReady, { timeout: 5_000 }).toBe(true);
    expect(await mayTell("+info")).toContain("another Redis answers");
    expect(await loss.check()).toBeUndefined();
    await harness.close();
  });

  it("is checked again when it was busy", { timeout: 20_000 }, async () => {
    const service = await freshRedis();
    const { harness } = await openHarnesses(service, { isPair: false });
    const loss = createDataLossDetector(harness.redis);
    await harness.redis.sendOne({ command: "config", args: ["set", "lua-time-limit", 10] }, 1_000);
    const other = harness.redis.open("another");
    await other.ping();
    const endless = other.call("eval", "while true do end", 0).catch(() => undefined);
    await pause(300);
    await expect(loss.check()).rejects.toThrow("BUSY");
    await harness.redis.sendOne({ command: "script", args: ["kill"] }, 1_000);
    await endless;
    expect(await loss.check()).toBeUndefined();
    await harness.close();
  });
});
