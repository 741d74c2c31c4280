import { createDatabase, eachDatabase, freshRedis } from "@fairway/testkit/databases";
import { beforeAll, describe } from "vitest";
import { ledgerContract } from "../ledger.contract.ts";
import { openRedisHarness } from "./test-harness.contract.ts";

let redisUrl: string;
beforeAll(async () => {
  redisUrl = (await freshRedis()).url;
});

eachDatabase("the ledger on Redis", (open) => {
  ledgerContract(async () => openRedisHarness(await open(), { redisUrl }));
});

describe("the Redis ledger with a PostgreSQL log database", () => {
  ledgerContract(async () =>
    openRedisHarness(await createDatabase("sqlite"), { redisUrl, logUrl: await createDatabase("postgres") }),
  );
});
