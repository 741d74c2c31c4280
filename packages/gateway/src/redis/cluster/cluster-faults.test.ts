import { startRedisCluster, type RedisCluster, type Service } from "@fairway/testkit/services";
import { PassThrough } from "node:stream";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Secret } from "../../lib/secret.ts";
import { createLog } from "../../observability/log.ts";
import { createRedisClient, type RedisClient } from "../client.ts";
import { createKeys, SHARDS } from "../keys.ts";
import { createChannel } from "../pubsub.ts";
import { script } from "../script.ts";
import { calculateSlot } from "./slots.ts";

const log = createLog({ level: "off", format: "json", out: new PassThrough() });
const keys = createKeys("t:");
const shards = Array.from({ length: SHARDS }, (_, shard) => shard);
const MOVED = 8;
const COUNT = script("return redis.call('incr', KEYS[1])");
let cluster: RedisCluster;
const clients: RedisClient[] = [];
beforeAll(async () => void (cluster = await startRedisCluster({ replicaPrimaries: [0], spare: 1, isDurable: false })));
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

describe("calls to a cluster that changes", () => {
  it("are each run once while their slots move", { timeout: 60_000 }, async () => {
    const redis = await client();
    const [first, , , spare] = cluster.primaries as [Service, Service, Service, Service];
    const owners = await Promise.all(shards.map((shard) => cluster.findOwner(keys.epoch(shard))));
    const moving = shards.filter((shard) => owners[shard] === first).slice(0, MOVED);
    const before = (
      await redis.send(
        shards.map((shard) => ({ command: "get", args: [keys.epoch(shard)] })),
        2_000,
      )
    ).map(Number);
    const sent = shards.map(() => 0);
    let isMoving = true;
    const load = async (shard: number) => {
      while (isMoving) {
        // Because of a missing key, the receiving node refuses a script with several keys until the slot has been
        // moved.
        const extra = (sent[shard] ?? 0) % 2 === 0 ? [] : [keys.holds(shard)];
        await redis.sendOne({ script: COUNT, keys: [keys.epoch(shard), ...extra], args: [] }, 5_000);
        sent[shard] = (sent[shard] ?? 0) + 1;
      }
    };
    const work = Promise.all(shards.map(load));
    for (const to of [spare, first]) for (const shard of moving) await cluster.move(keys.epoch(shard), to);
    isMoving = false;
    await work;
    const after = (
      await redis.send(
        shards.map((shard) => ({ command: "get", args: [keys.epoch(shard)] })),
        2_000,
      )
    ).map(Number);
    expect(after).toEqual(before.map((value, shard) => value + (sent[shard] ?? 0)));
    expect(Math.min(...sent)).toBeGreaterThan(10);
  });

  it("fail for the keys of a dead primary only, until its replica takes over", { timeout: 60_000 }, async () => {
    const redis = await client();
    let readies = 0;
    redis.onReady(() => (readies += 1));
    const heard: string[] = [];
    const channel = createChannel({
      redis,
      name: "changes",
      log,
      sender: "a",
      onMessage: (text) => void heard.push(text),
      onGap: () => void heard.push("gap"),
    });
    await channel.start();
    const [dead] = cluster.primaries as [Service];
    const owners = await Promise.all(shards.map((shard) => cluster.findOwner(keys.epoch(shard))));
    await dead.kill();
    const answers = await redis.sendEach(shards.map(count), 1_000);
    for (const [shard, answer] of answers.entries())
      expect(answer instanceof Error ? answer.name : "answered").toBe(
        owners[shard] === dead ? "RedisUnavailable" : "answered",
      );
    expect(redis.isReady).toBe(false);
    expect(redis.lastError?.message).toMatch(/^the primary of slots 0-5461, .*does not answer/);
    expect(await redis.ready(20_000)).toBe(true);
    expect((await redis.sendEach(shards.map(count), 1_000)).filter((answer) => answer instanceof Error)).toEqual([]);
    expect(readies).toBe(2);
    await expect.poll(() => heard).toContain("gap");
    await channel.stop();
    // The old primary returns as a replica and redirects calls.
    await dead.restart();
    await cluster.agreed();
    const again = await client(`redis+cluster://127.0.0.1:${dead.port}`);
    expect(await again.sendOne(count(1), 1_000)).toBeGreaterThan(0);
  });

  it("reach the replica that takes the place of a primary that hangs", { timeout: 60_000 }, async () => {
    const redis = await client();
    const shard = shards.find((one) => calculateSlot(keys.epoch(one)) < 5_000) as number;
    const owner = await cluster.findOwner(keys.epoch(shard));
    process.kill(owner.pid, "SIGSTOP");
    try {
      const isAnswered = () =>
        redis.sendOne(count(shard), 300).then(
          () => true,
          () => false,
        );
      // This is sooner than the timeout of the hanging connection.
      await expect.poll(isAnswered, { timeout: 8_000 }).toBe(true);
    } finally {
      process.kill(owner.pid, "SIGCONT");
    }
    await cluster.agreed();
  });
});
