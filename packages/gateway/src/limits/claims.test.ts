import { freshRedis } from "@fairway/testkit/databases";
import { startProxy } from "@fairway/testkit/proxy";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Secret } from "../lib/secret.ts";
import { createLog } from "../observability/log.ts";
import { createRedisClient, type RedisClient } from "../redis/client.ts";
import { createKeys } from "../redis/keys.ts";
import { createMemoryClaims } from "./claims-memory.ts";
import { createRedisClaims } from "./claims-redis.ts";
import { claimsContract } from "./claims.contract.ts";
import type { Claim, ClaimAnswer, TakenAt } from "./claims.ts";

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

/** For tests without an outage: a busy machine answers late. */
const LONG_MS = 5_000;

async function connect(prefix: string, at = url, waitMs = 50): Promise<RedisClient> {
  const redis = createRedisClient({ url: new Secret(at), keys: createKeys(prefix), log, name: "test", waitMs });
  clients.push(redis);
  await redis.ready(30_000);
  return redis;
}

claimsContract("process memory", (clock) => Promise.resolve(createMemoryClaims(clock)));

claimsContract("Redis", async (clock) => {
  made += 1;
  const fail = (error: unknown) => {
    throw error;
  };
  return createRedisClaims({
    redis: await connect(`c${made}:`, url, LONG_MS),
    local: createMemoryClaims(clock),
    clock,
    onOutage: fail,
  });
});

test("three replicas never take more than the limit together", async () => {
  const clock = { now: () => Date.now() };
  const replicas = await Promise.all(
    [0, 1, 2].map(async () =>
      createRedisClaims({
        redis: await connect("three:", url, LONG_MS),
        local: createMemoryClaims(clock),
        onOutage: () => {},
      }),
    ),
  );
  const wanted: Claim[] = [{ scope: "user", subject: "1", kind: "requests", limit: 100, amount: 1 }];
  const answers = await Promise.all(
    Array.from({ length: 300 }, async (_, at) => replicas[at % 3]?.take(`r${at}`, wanted)),
  );
  expect(answers.filter((answer) => answer?.taken)).toHaveLength(100);
});

test("three replicas count each of many values exactly, and those beyond the bound together", async () => {
  const clock = { now: () => Date.now() };
  const replicas = await Promise.all(
    [0, 1, 2].map(async () =>
      createRedisClaims({
        redis: await connect("values:", url, LONG_MS),
        local: createMemoryClaims(clock),
        onOutage: () => {},
      }),
    ),
  );
  const oneOf = { list: "t1/end_user", most: 10, others: "t1/~other" };
  const claim = (value: number): Claim[] => [
    { scope: "end_user", subject: `t1/${value}`, kind: "requests", limit: 20, amount: 1, oneOf },
  ];
  const send = (values: readonly number[]) =>
    Promise.all(values.map(async (value, at) => replicas[at % 3]?.take(`r${value}-${at}`, claim(value))));
  const isTaken = (answer: ClaimAnswer | undefined) => answer?.taken === true;
  // Ten values, each 60 times from all replicas: exactly the limit of each.
  const known = await send(Array.from({ length: 600 }, (_, at) => Math.floor(at / 3) % 10));
  expect(known.filter(isTaken)).toHaveLength(200);
  // A client that invents values gets one counter for all of them.
  const invented = await send(Array.from({ length: 300 }, (_, at) => 1_000 + at));
  expect(invented.filter(isTaken)).toHaveLength(20);
  const looking = await connect("values:", url, LONG_MS);
  const keys = (await looking.sendOne({ command: "KEYS", args: ["values:*"] }, LONG_MS)) as unknown[];
  expect(keys).toHaveLength(12);
});

test("a window that a clock far ahead has made does not outlive a fail-over", async () => {
  let now = 1_700_003_600_000;
  const claims = createRedisClaims({
    redis: await connect("ahead:"),
    local: createMemoryClaims({ now: () => now }),
    clock: { now: () => now },
    onOutage: () => {},
  });
  const wanted: Claim[] = [{ scope: "user", subject: "1", kind: "requests", limit: 1, amount: 1 }];
  expect((await claims.take("a", wanted)).taken).toBe(true);
  now -= 3_600_000;
  expect((await claims.take("b", wanted)).taken).toBe(true);
  expect((await claims.take("c", wanted)).taken).toBe(false);
});

test("what this process counted while Redis was away is corrected here, and runs on in Redis", async () => {
  const proxy = await startProxy(Number(new URL(url).port));
  const redis = await connect("back:", `redis://127.0.0.1:${proxy.port}`);
  const away = async () => {
    proxy.isClosed = true;
    proxy.cut();
    await expect.poll(() => redis.isReady).toBe(false);
  };
  const made = (client: RedisClient) =>
    createRedisClaims({ redis: client, local: createMemoryClaims({ now: () => Date.now() }), onOutage: () => {} });
  const [claims, other] = [made(redis), made(await connect("back:"))];
  const tokens: Claim = { scope: "user", subject: "1", kind: "tokens", limit: 100, amount: 80 };
  const place: Claim = { scope: "user", subject: "1", kind: "concurrency", limit: 1, amount: 1 };
  await away();
  const taken = await claims.take("a", [tokens, place]);
  expect(taken).toMatchObject({ taken: true, at: { isLocal: true } });
  proxy.isClosed = false;
  expect(await redis.ready(30_000)).toBe(true);
  await claims.renew("a", [place]);
  expect(await other.take("b", [place])).toMatchObject({ taken: false, state: { used: 1 } });
  await claims.correct([tokens], (taken as { at: TakenAt }).at, { tokens: 5, isSuccess: true });
  expect(await other.take("b", [tokens])).toMatchObject({ taken: true, states: [{ used: 80 }] });
  await away();
  expect(await claims.take("c", [{ ...tokens, amount: 95 }])).toMatchObject({ taken: true, states: [{ used: 100 }] });
  await claims.correct([tokens], { ms: Date.now() }, { tokens: 90, isSuccess: true });
  expect(await claims.take("d", [{ ...tokens, amount: 1 }])).toMatchObject({ taken: false, state: { used: 110 } });
  await proxy.stop();
});

test("a Redis in another zone counts for all where a call waits long enough for it", async () => {
  const proxy = await startProxy(Number(new URL(url).port));
  const wanted: Claim[] = [{ scope: "user", subject: "1", kind: "requests", limit: 1, amount: 1 }];
  const replica = async (waitMs: number) => {
    const redis = await connect("far:", `redis://127.0.0.1:${proxy.port}`, waitMs);
    return createRedisClaims({ redis, local: createMemoryClaims({ now: () => Date.now() }), onOutage: () => {} });
  };
  const [patient, other, hasty] = [await replica(2_000), await replica(2_000), await replica(50)];
  proxy.delayMs = 60;
  expect((await patient.take("a", wanted)).taken).toBe(true);
  expect((await other.take("b", wanted)).taken).toBe(false);
  expect(await hasty.take("c", wanted)).toMatchObject({ taken: true, at: { isLocal: true } });
  await proxy.stop();
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
  await claims.correct(wanted, { ms: 0 }, { tokens: 0, isSuccess: true });
  await claims.release("a", wanted);
  expect((await claims.take("b", wanted)).taken).toBe(true);
  expect(outages).toBeGreaterThan(0);
});
