import { propertyRuns } from "@fairway/testkit/property-runs";
import { createDatabase, freshRedis } from "@fairway/testkit/databases";
import { startProxy } from "@fairway/testkit/proxy";
import fc from "fast-check";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { history, play } from "../history.contract.ts";
import { createTestAccounts } from "../test-harness.contract.ts";
import { newPrefix, openRedisHarness, type RedisHarness } from "./test-harness.contract.ts";
import { books, treatErrorsAsRefusals } from "./traffic.contract.ts";

const FAULTS = ["empty", "cut", "forget scripts", "nothing"] as const;

it(
  "preserves the money invariants in any history while Redis is emptied and connections break",
  { timeout: 300_000 },
  async () => {
    const service = await freshRedis();
    const proxy = await startProxy(service.port);
    const [url, prefix] = [await createDatabase("postgres"), newPrefix()];
    const harness = await openRedisHarness(url, { redisUrl: `redis://127.0.0.1:${proxy.port}`, prefix });
    const other = await openRedisHarness(url, { redisUrl: service.url, prefix, clock: harness.clock });
    const accounts = createTestAccounts(harness);
    const happen = async (fault: (typeof FAULTS)[number], { redis }: RedisHarness) => {
      if (fault === "empty") await redis.sendOne({ command: "flushall", args: [] }, 2_000);
      if (fault === "forget scripts") await redis.sendOne({ command: "script", args: ["flush"] }, 2_000);
      if (fault === "cut") proxy.cut();
    };
    const faults = fc.array(fc.record({ fault: fc.constantFrom(...FAULTS), afterMs: fc.nat(40) }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(history, faults, async (one, some) => {
        const trouble = (async () => {
          for (const { fault, afterMs } of some) {
            await pause(afterMs);
            await happen(fault, other);
          }
        })();
        await play({ ...harness, ledger: treatErrorsAsRefusals(harness) }, accounts, one);
        await trouble;
        for (const { ledger } of [harness, other]) await ledger.flush();
        expect(await books(other)).toEqual([]);
      }),
      { numRuns: propertyRuns(25), endOnFailure: true },
    );
    await other.close();
    await harness.close();
    await proxy.stop();
  },
);
