import { propertyRuns } from "@fairway/testkit/property-runs";
import { createDatabase } from "@fairway/testkit/databases";
import { startRedisCluster, type Service } from "@fairway/testkit/services";
import fc from "fast-check";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { SHARDS } from "../../../redis/keys.ts";
import { history, play } from "../history.contract.ts";
import { createTestAccounts } from "../test-harness.contract.ts";
import { newPrefix, openRedisHarness } from "./test-harness.contract.ts";
import { books, treatErrorsAsRefusals } from "./traffic.contract.ts";

const FAULTS = ["move", "move", "move", "empty", "forget scripts"] as const;

it(
  "preserves the money invariants in any history on a Redis Cluster while slots move and a primary is emptied",
  { timeout: 300_000 },
  async () => {
    const cluster = await startRedisCluster({ isDurable: false });
    const [url, prefix] = [await createDatabase("sqlite"), newPrefix()];
    const harness = await openRedisHarness(url, { redisUrl: cluster.url, prefix });
    const accounts = createTestAccounts(harness);
    const fault = fc.record({
      kind: fc.constantFrom(...FAULTS),
      shard: fc.nat(SHARDS - 1),
      primary: fc.nat(2),
      afterMs: fc.nat(30),
    });
    const happen = async ({
      kind,
      shard,
      primary,
    }: {
      kind: (typeof FAULTS)[number];
      shard: number;
      primary: number;
    }) => {
      const node = cluster.primaries[primary] as Service;
      if (kind === "move") await cluster.move(harness.redis.keys.epoch(shard), node);
      if (kind === "empty") await cluster.ask(node, "flushall");
      if (kind === "forget scripts") await cluster.ask(node, "script", "flush");
    };
    await fc.assert(
      fc.asyncProperty(history, fc.array(fault, { maxLength: 6 }), async (one, some) => {
        const trouble = (async () => {
          for (const next of some) {
            await pause(next.afterMs);
            await happen(next);
          }
        })();
        await play({ ...harness, ledger: treatErrorsAsRefusals(harness) }, accounts, one);
        await trouble;
        await harness.ledger.flush();
        expect(await books(harness)).toEqual([]);
      }),
      { numRuns: propertyRuns(12), endOnFailure: true },
    );
    await harness.close();
    await cluster.stop();
  },
);
