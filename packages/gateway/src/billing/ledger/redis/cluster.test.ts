import { createDatabase } from "@fairway/testkit/databases";
import { type RedisCluster, startRedisCluster } from "@fairway/testkit/services";
import { afterAll, beforeAll, describe } from "vitest";
import { ledgerContract } from "../ledger.contract.ts";
import { openRedisHarness } from "./test-harness.contract.ts";

let cluster: RedisCluster;
beforeAll(async () => void (cluster = await startRedisCluster({ isDurable: false })));
afterAll(() => cluster.stop());

describe("the ledger on a Redis Cluster", () => {
  ledgerContract(async () => openRedisHarness(await createDatabase("sqlite"), { redisUrl: cluster.url }));
});
