import { freshRedis } from "@fairway/testkit/databases";
import { startRedisCluster, type RedisCluster, type Service } from "@fairway/testkit/services";
import { Writable } from "node:stream";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Secret } from "../../lib/secret.ts";
import { createLog } from "../../observability/log.ts";
import { checkRedis } from "../check.ts";
import { createRedisClient, type RedisClient } from "../client.ts";
import { createKeys, SHARDS } from "../keys.ts";
import { script } from "../script.ts";
import { calculateSlot } from "./slots.ts";

const lines: string[] = [];
const out = new Writable({
  write(chunk: Buffer, _encoding, done) {
    lines.push(chunk.toString());
    done();
  },
});
const log = createLog({ level: "info", format: "json", out });
const keys = createKeys("t:");
const shards = Array.from({ length: SHARDS }, (_, shard) => shard);
const COUNT = script("return redis.call('incr', KEYS[1])");
let cluster: RedisCluster;
const clients: RedisClient[] = [];
beforeAll(async () => void (cluster = await startRedisCluster({ replicaPrimaries: [0], isDurable: false })));
afterAll(() => cluster.stop());
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

async function client(url = cluster.url): Promise<RedisClient> {
  const redis = createRedisClient({ url: new Secret(url), keys, log, name: "test" });
  clients.push(redis);
  expect(await redis.ready(10_000), redis.lastError?.message).toBe(true);
  return redis;
}

const count = (shard: number) => ({ script: COUNT, keys: [keys.epoch(shard)], args: [] });

describe("the check at the start, with a cluster", () => {
  const refusal = async (url: string, installation = "one") => {
    const redis = createRedisClient({ url: new Secret(url), keys, log, name: "test" });
    clients.push(redis);
    return checkRedis(redis, installation, log).then(
      () => "passed",
      (error: Error) => error.message,
    );
  };

  it("passes by any node, although others of the list are not there, and warns once of what is risky", async () => {
    lines.length = 0;
    const [replica] = cluster.replicas as [Service];
    expect(await refusal(`redis+cluster://127.0.0.1:1,127.0.0.1:${replica.port}`)).toBe("passed");
    const [, second, third] = cluster.primaries as [Service, Service, Service];
    const warnings = lines.filter((line) => line.includes("have no replica"));
    expect(warnings).toHaveLength(1);
    expect(JSON.parse(warnings[0] ?? "")).toMatchObject({
      nodes: [`127.0.0.1:${second.port}`, `127.0.0.1:${third.port}`],
    });
    expect(lines.join("")).not.toContain("serves nothing while one slot");
    await cluster.ask(second, "config", "set", "cluster-require-full-coverage", "yes");
    await cluster.ask(second, "config", "set", "maxmemory-policy", "allkeys-lru");
    await cluster.ask(second, "config", "set", "maxmemory", "1gb");
    expect(await refusal(cluster.url)).toBe("passed");
    expect(lines.join("")).toContain("set cluster-require-full-coverage no");
    expect(lines.join("")).toMatch(new RegExp(`Redis may evict balances.*"node":"127.0.0.1:${second.port}"`));
    await cluster.ask(second, "config", "set", "cluster-require-full-coverage", "no");
    await cluster.ask(second, "config", "set", "maxmemory", "0");
    expect(await refusal(cluster.url, "two")).toContain("belong to another database");
  });

  it("names slots without a primary and a server that is no cluster", { timeout: 30_000 }, async () => {
    const [first] = cluster.primaries as [Service];
    const { port } = new URL((await freshRedis()).url);
    expect(await refusal(`redis+cluster://127.0.0.1:${port}`)).toMatch(
      /is not a node of a Redis Cluster: write redis:/,
    );
    for (const node of [first, ...cluster.primaries.slice(1), ...cluster.replicas])
      await cluster.ask(node, "cluster", "delslots", 0, 1, 7);
    expect(await refusal(cluster.url)).toContain("slots 0-1, 7 have no primary: start it, or give them to another one");
    await cluster.ask(first, "cluster", "addslots", 0, 1, 7);
    await cluster.agreed();
  });
});

describe("calls to a cluster", () => {
  it("hash keys as Redis does", async () => {
    for (const key of ["a", "{s01}epoch", "t:{l:login:a%20b}x", "ünïcode", "{}x"])
      expect(calculateSlot(key)).toBe(await cluster.readSlot(key));
  });

  it("go to the primary of their key, those of one turn in one write to each", async () => {
    const redis = await client();
    const answers = await redis.send(shards.map(count), 2_000);
    expect(new Set(answers)).toEqual(new Set([1]));
    expect(await Promise.all(shards.map((shard) => redis.sendOne(count(shard), 2_000)))).toEqual(shards.map(() => 2));
    const reads = async () =>
      Promise.all(
        redis.servers().map(async ({ sendOne }) => {
          const info = String(await sendOne({ command: "info", args: ["stats"] }, 2_000));
          return Number(/total_reads_processed:(\d+)/.exec(info)?.[1]);
        }),
      );
    const before = await reads();
    await Promise.all(shards.map((shard) => redis.sendOne(count(shard), 2_000)));
    // The query itself counts as a read, and a replica reports once a second.
    for (const [at, value] of (await reads()).entries()) expect(value - (before[at] ?? 0)).toBeLessThan(6);
    const sizes = await Promise.all(
      redis.servers().map(({ sendOne }) => sendOne({ command: "dbsize", args: [] }, 2_000)),
    );
    expect(sizes.map(Number).every((size) => size > 10)).toBe(true);
  });
});
