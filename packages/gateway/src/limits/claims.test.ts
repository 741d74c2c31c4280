import { freshRedis } from "@fairway/testkit/databases";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Secret } from "../lib/secret.ts";
import { createLog } from "../observability/log.ts";
import { createRedisClient, type RedisClient } from "../redis/client.ts";
import { createKeys } from "../redis/keys.ts";
import { createMemoryClaims } from "./claims-memory.ts";
import { createRedisClaims } from "./claims-redis.ts";
import { claimsContract } from "./claims.contract.ts";
import type { Claim } from "./claims.ts";

const log = createLog({ level: "off", format: "text", out: new PassThrough() });
const clients: RedisClient[] = [];
let url: string;
let stop: () => Promise<void>;
let made = 0;

beforeAll(async () => {
  const service = await freshRedis();
  url = service.url;
  stop = () => service.stop();
});
afterAll(async () => {
  for (const client of clients) await client.close();
});

async function connect(prefix: string): Promise<RedisClient> {
  const redis = createRedisClient({ url: new Secret(url), keys: createKeys(prefix), log, name: "test" });
  clients.push(redis);
  await redis.ready(5_000);
  return redis;
}

claimsContract("process memory", (clock) => Promise.resolve(createMemoryClaims(clock)));

claimsContract("Redis", async (clock) => {
  made += 1;
  const fail = (error: unknown) => {
    throw error;
  };
  return createRedisClaims({
    redis: await connect(`c${made}:`),
    local: createMemoryClaims(clock),
    clock,
    onOutage: fail,
  });
});

test("three replicas never take more than the limit together", async () => {
  const clock = { now: () => Date.now() };
  const replicas = await Promise.all(
    [0, 1, 2].map(async () =>
      createRedisClaims({ redis: await connect("three:"), local: createMemoryClaims(clock), onOutage: () => {} }),
    ),
  );
  const wanted: Claim[] = [{ scope: "user", subject: "1", kind: "requests", limit: 100, amount: 1 }];
  const answers = await Promise.all(
    Array.from({ length: 300 }, async (_, at) => replicas[at % 3]?.take(`r${at}`, wanted)),
  );
  expect(answers.filter((answer) => answer?.taken)).toHaveLength(100);
});

test("without Redis each replica counts alone, and says so", async () => {
  let outages = 0;
  const redis = await connect("away:");
  const local = createMemoryClaims({ now: () => Date.now() });
  const claims = createRedisClaims({ redis, local, onOutage: () => void (outages += 1) });
  await stop();
  const wanted: Claim[] = [{ scope: "user", subject: "1", kind: "concurrency", limit: 1, amount: 1 }];
  expect((await claims.take("a", wanted)).taken).toBe(true);
  expect((await claims.take("b", wanted)).taken).toBe(false);
  await claims.renew("a", wanted);
  await claims.correct(wanted, 0, { tokens: 0, isSuccess: true });
  await claims.release("a", wanted);
  expect((await claims.take("b", wanted)).taken).toBe(true);
  expect(outages).toBeGreaterThan(0);
});
