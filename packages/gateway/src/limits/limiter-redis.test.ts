import { freshRedis } from "@fairway/testkit/databases";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Secret } from "../lib/secret.ts";
import { createLog } from "../observability/log.ts";
import { createRedisClient, type RedisClient } from "../redis/client.ts";
import { createKeys } from "../redis/keys.ts";
import { createMemoryLimiter } from "./limiter-memory.ts";
import { createRedisLimiter } from "./limiter-redis.ts";
import { limiterContract } from "./limiter.contract.ts";
import type { Rule } from "./limiter.ts";

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
  await redis.ready(30_000);
  return redis;
}

limiterContract("Redis", async (clock) => {
  made += 1;
  const redis = await connect(`l${made}:`);
  const fail = (_rule: Rule, error: unknown) => {
    throw error;
  };
  return createRedisLimiter({ redis, local: createMemoryLimiter(clock), clock, onOutage: fail });
});

// @weakness Credentials: Each replica counts attempts alone
test("replicas count together, by the clock of Redis", async () => {
  const rule: Rule = { name: "r", limit: 10, windowMs: 60_000 };
  const limiters = await Promise.all(
    [0, 1, 2].map(async () => {
      const clock = { now: () => Date.now() };
      return createRedisLimiter({
        redis: await connect("shared:"),
        local: createMemoryLimiter(clock),
        onOutage: () => {},
      });
    }),
  );
  const answers = await Promise.all(Array.from({ length: 60 }, async (_, at) => limiters[at % 3]?.take(rule, "a")));
  expect(answers.filter((answer) => answer?.admitted)).toHaveLength(10);
});

test("without Redis a rule of sign-in denies, and others count here alone", async () => {
  const redis = await connect("away:");
  const outages: string[] = [];
  const limiter = createRedisLimiter({
    redis,
    local: createMemoryLimiter({ now: () => Date.now() }),
    onOutage: (rule) => outages.push(rule.name),
  });
  await stop();
  const open: Rule = { name: "open", limit: 2, windowMs: 60_000 };
  const strict: Rule = { name: "strict", limit: 2, windowMs: 60_000, onOutage: "deny" };
  expect(await limiter.take(strict, "a")).toEqual({ admitted: false, limit: 2, remaining: 0, resetMs: 5_000 });
  const answers = [];
  for (let at = 0; at < 3; at += 1) answers.push((await limiter.take(open, "a")).admitted);
  expect(answers).toEqual([true, true, false]);
  await limiter.clear(open, "a");
  expect((await limiter.peek(open, "a")).remaining).toBe(2);
  expect(new Set(outages)).toEqual(new Set(["strict", "open"]));
});
