import { freshRedis } from "@fairway/testkit/databases";
import { startProxy } from "@fairway/testkit/proxy";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { granted, settlementOf } from "../test-harness.contract.ts";
import { createDataLossDetector } from "./recovery/data-loss-detector.ts";
import type { RedisRig } from "./test-harness.contract.ts";
import { expectCharged, openRigs } from "./traffic.contract.ts";

const READ_ANEW = "balances in Redis are read anew";
const linesWith = ({ lines }: RedisRig, text: string) => lines.filter((line) => line.includes(text)).length;

describe("a Redis that is another than before", () => {
  it("is noticed though it was silent when it was first looked at", { timeout: 40_000 }, async () => {
    const service = await freshRedis({ isDurable: true });
    const proxy = await startProxy(service.port);
    const { rig, accounts, user, token } = await openRigs(service, {
      isPair: false,
      redisUrl: `redis://127.0.0.1:${proxy.port}`,
    });
    await rig.ledger.settle(settlementOf(await granted(rig.ledger, user, token, 50), 7));
    await rig.ledger.flush();
    const before = linesWith(rig, READ_ANEW);
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
    await expect.poll(() => linesWith(rig, READ_ANEW), { timeout: 8_000 }).toBe(before + 1);
    await expectCharged([rig], accounts, user, 7);
    await rig.close();
    await proxy.stop();
  });

  it("is noticed while the one before is still being told what it had lost", { timeout: 40_000 }, async () => {
    const service = await freshRedis({ isDurable: true });
    const { rig, accounts, user, token } = await openRigs(service, { isPair: false, part: { barrierMs: 3_000 } });
    await rig.ledger.settle(settlementOf(await granted(rig.ledger, user, token, 50), 7));
    await rig.ledger.flush();
    const before = linesWith(rig, READ_ANEW);
    for (const round of [1, 2]) {
      await service.kill("SIGKILL");
      await service.restart();
      await expect.poll(() => linesWith(rig, "the journal was given to Redis again"), { timeout: 15_000 }).toBe(round);
    }
    await expect.poll(() => linesWith(rig, READ_ANEW), { timeout: 15_000 }).toBe(before + 2);
    await expect
      .poll(() => linesWith(rig, "balances in Redis may be used again"), { timeout: 15_000 })
      .toBe(before + 1);
    await expectCharged([rig], accounts, user, 7);
    expect(linesWith(rig, READ_ANEW)).toBe(before + 2);
    await rig.close();
  });

  it("is noticed though its name was hidden in between", { timeout: 20_000 }, async () => {
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

  it("is asked again when it is busy just then", { timeout: 20_000 }, async () => {
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
