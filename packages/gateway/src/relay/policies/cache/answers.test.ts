import { freshRedis } from "@fairway/testkit/databases";
import { randomBytes } from "node:crypto";
import { PassThrough } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ratio } from "../../../billing/money/ratio.ts";
import { NO_USAGE } from "../../../dialects/core/types.ts";
import { Secret } from "../../../lib/secret.ts";
import { createLog } from "../../../observability/log.ts";
import { createRedisClient, type RedisClient } from "../../../redis/client.ts";
import { createKeys } from "../../../redis/keys.ts";
import type { CachePolicy } from "../../../snapshot/cache-policy.ts";
import { createVault } from "../../../storage/secrets/secrets.ts";
import { createMemoryEntries } from "../../ttl-store/memory.ts";
import { createRedisAnswers, type Answers, type CachedAnswer } from "./answers.ts";

const vault = () => createVault({ keys: [{ id: "k", key: new Secret(randomBytes(32).toString("base64")) }] });
const log = createLog({ level: "off", format: "text", out: new PassThrough() });
const policy = (maxBytes: number, keepMs = 60_000): CachePolicy => ({
  keepMs,
  maxBytes,
  ratio: ratio(0),
  concerns: () => true,
  version: "",
});
const answer = (bytes: number, storedAt = Date.now()): CachedAnswer => ({
  body: randomBytes(bytes),
  contentType: "application/json",
  usage: { ...NO_USAGE, input: 3, output: 4 },
  group: "default",
  storedAt,
});

describe("in memory", () => {
  it("keeps the most recently used answers within its size", () => {
    const answers = createMemoryEntries<CachedAnswer>();
    const all = policy(5 * 1024);
    for (const key of ["a", "b", "c"]) answers.keep(key, answer(1024), all);
    expect(answers.find("a")).toBeDefined();
    answers.keep("d", answer(1024), all);
    expect(["a", "b", "c", "d"].map((key) => answers.find(key) !== undefined)).toEqual([true, false, true, true]);
    expect(answers.bytes).toBe(3 * (1024 + 512));
    answers.keep("a", answer(10), all);
    expect(answers.bytes).toBe(2 * (1024 + 512) + 522);
    answers.keep("large", answer(6000), all);
    expect(answers.find("large")).toBeUndefined();
    answers.clear();
    expect([answers.bytes, answers.find("a")]).toEqual([0, undefined]);
  });

  it("drops expired answers when another one is added", () => {
    const answers = createMemoryEntries<CachedAnswer>();
    answers.keep("old", answer(10, 1_000), policy(10_000, 500));
    answers.keep("new", answer(10, 2_000), policy(10_000, 500));
    expect([answers.find("old"), answers.bytes]).toEqual([undefined, 522]);
  });

  it("takes no more memory than the bytes of an answer", async () => {
    const answers = createMemoryEntries<CachedAnswer>();
    const body = Buffer.from("a small answer");
    expect(body.buffer.byteLength).toBeGreaterThan(body.length);
    answers.keep("small", { ...answer(1), body }, policy(10_000));
    const stored = (await answers.find("small"))?.body;
    expect([String(stored), stored?.buffer.byteLength]).toEqual(["a small answer", body.length]);
  });

  it("never exceeds its size", () => {
    const answers = createMemoryEntries<CachedAnswer>();
    for (let turn = 0; turn < 2000; turn++) {
      answers.keep(`k${(turn * 7919) % 97}`, answer((turn * 31) % 3000), policy(20_000));
      expect(answers.bytes).toBeLessThanOrEqual(20_000);
    }
  });
});

describe("in Redis", () => {
  const clients: RedisClient[] = [];
  const failures: unknown[] = [];
  const sealer = vault();
  let url = "";
  let stop: () => Promise<void>;
  beforeAll(async () => {
    const service = await freshRedis();
    url = service.url;
    stop = () => service.stop();
  });
  afterAll(async () => {
    for (const client of clients) await client.close();
  });

  async function open(prefix: string, own = sealer): Promise<{ answers: Answers; redis: RedisClient }> {
    const redis = createRedisClient({ url: new Secret(url), keys: createKeys(prefix), log, name: "test" });
    clients.push(redis);
    await redis.ready(30_000);
    return { redis, answers: createRedisAnswers({ redis, sealer: own, onFailure: (error) => failures.push(error) }) };
  }
  const readBytes = async (redis: RedisClient) =>
    Number(await redis.sendOne({ command: "GET", args: [redis.keys.answers("bytes")] }, 1000));

  it("is shared by replicas, byte for byte, and sealed", async () => {
    const one = await open("a:");
    const text = { ...answer(0), body: Buffer.from('{"text":"Grüße 你好 👩‍👩‍👧"}') };
    one.answers.keep("text", text, policy(100_000));
    await expect.poll(() => one.answers.find("text")).toEqual(text);
    await one.redis.sendOne({ command: "FLUSHALL", args: [] }, 1000);
    const two = await open("a:");
    const cached = { ...answer(5000), contentType: "text/plain" };
    one.answers.keep("key", cached, policy(100_000));
    await expect.poll(() => two.answers.find("key")).toEqual(cached);
    const raw = String(
      await one.redis.sendOne({ command: "HGET", args: [one.redis.keys.answers("entries"), "key"] }, 1000),
    );
    expect(raw).toMatch(/^v2:k:/);
    expect(await readBytes(one.redis)).toBe(raw.length);
    const plain = createRedisAnswers({
      redis: one.redis,
      sealer: { seal: (text) => text, open: (text) => text },
      onFailure: () => {},
    });
    expect(await plain.find("key")).toBeUndefined();
  });

  it("ignores an answer under another key or another encryption key", async () => {
    const { answers, redis } = await open("b:");
    answers.keep("mine", answer(10), policy(100_000));
    await expect.poll(() => answers.find("mine")).toBeDefined();
    const hash = redis.keys.answers("entries");
    const sealed = String(await redis.sendOne({ command: "HGET", args: [hash, "mine"] }, 1000));
    await redis.sendOne({ command: "HSET", args: [hash, "yours", sealed] }, 1000);
    expect(await answers.find("yours")).toBeUndefined();
    failures.length = 0;
    const strangers = await open("b:", vault());
    expect(await strangers.answers.find("mine")).toBeUndefined();
    expect(failures).toHaveLength(1);
  });

  it("stays within its size: answers that expire first leave", async () => {
    const { answers, redis } = await open("c:");
    for (let at = 0; at < 20; at++) {
      answers.keep(`k${at}`, answer(1000), policy(10_000));
      await expect.poll(() => answers.find(`k${at}`)).toBeDefined();
      expect(await readBytes(redis)).toBeLessThanOrEqual(10_000);
    }
    const left = (await redis.sendOne({ command: "HKEYS", args: [redis.keys.answers("entries")] }, 1000)) as string[];
    expect(left.length).toBeGreaterThan(2);
    expect(new Set(left)).toEqual(new Set(Array.from({ length: left.length }, (_, at) => `k${20 - left.length + at}`)));
    const sizes = await redis.sendOne({ command: "HVALS", args: [redis.keys.answers("entries")] }, 1000);
    expect(await readBytes(redis)).toBe((sizes as string[]).join("").length);
    answers.keep("k19", answer(10), policy(10_000));
    await expect.poll(async () => (await answers.find("k19"))?.body.length).toBe(10);
    const after = await redis.sendOne({ command: "HVALS", args: [redis.keys.answers("entries")] }, 1000);
    expect(await readBytes(redis)).toBe((after as string[]).join("").length);
    answers.keep("large", answer(20_000), policy(10_000));
    expect(await answers.find("large")).toBeUndefined();
  });

  it("drops expired entries, and all of them when none was added for long enough", async () => {
    const { answers, redis } = await open("d:");
    answers.keep("long", answer(10), policy(10_000, 1000));
    answers.keep("short", answer(10), policy(10_000, 50));
    await pause(100);
    answers.keep("next", answer(10), policy(10_000, 50));
    const names = async () =>
      (await redis.sendOne({ command: "HKEYS", args: [redis.keys.answers("entries")] }, 1000)) as string[];
    await expect.poll(async () => new Set(await names())).toEqual(new Set(["long", "next"]));
    await pause(1100);
    expect(await redis.sendOne({ command: "KEYS", args: ["d:*"] }, 1000)).toEqual([]);
  });

  it("is a miss while Redis is away, and waits for it only once", async () => {
    const { answers } = await open("e:");
    await stop();
    failures.length = 0;
    expect(await answers.find("key")).toBeUndefined();
    const since = performance.now();
    for (let turn = 0; turn < 1_000; turn++) expect(await answers.find("key")).toBeUndefined();
    answers.keep("key", answer(10), policy(10_000));
    // Waiting for each of them would take longer.
    expect(performance.now() - since).toBeLessThan(10_000);
    expect(failures).toHaveLength(1);
  });
});
