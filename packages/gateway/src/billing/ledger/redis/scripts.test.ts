import { freshRedis } from "@fairway/testkit/databases";
import { Writable } from "node:stream";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Secret } from "../../../lib/secret.ts";
import { createLog } from "../../../observability/log.ts";
import { createRedisClient, type RedisClient } from "../../../redis/client.ts";
import { createKeys, selectShard } from "../../../redis/keys.ts";
import type { Hold } from "../ledger.ts";
import { quota } from "../../money/quota.ts";
import { holdCall, reapCall, releaseCall, renewCall, settleCall } from "./calls.ts";
import { HELD, OPEN, LOAD_ACCOUNT, SETTLED } from "./scripts.ts";
import { newPrefix } from "./test-harness.contract.ts";

const log = createLog({
  level: "off",
  format: "json",
  out: new Writable({ write: (_chunk, _encoding, done) => done() }),
});
const USER = 7;
const TOKEN = 9;
const LEASE = { now: 1_000_000, leaseMs: 60_000 };
const MS = 2_000;
let redis: RedisClient;

beforeAll(async () => {
  const { url } = await freshRedis();
  redis = createRedisClient({ url: new Secret(url), keys: createKeys(newPrefix()), log, name: "test" });
  await redis.ready(MS);
});
afterAll(() => redis.close());

async function load(balance: number, used: number, grant: string): Promise<void> {
  const { keys } = redis;
  const epoch = keys.epoch(selectShard(USER));
  const own = [keys.user(USER), keys.token(USER, TOKEN), keys.holds(selectShard(USER)), keys.leases(selectShard(USER))];
  await redis.sendOne(
    { command: "del", args: [epoch, ...own, keys.charges(selectShard(USER)), keys.seen(selectShard(USER))] },
    MS,
  );
  await redis.sendOne({ script: OPEN, keys: [epoch], args: ["1"] }, MS);
  for (const [account, amount, limit] of [
    [keys.user(USER), balance, "u"],
    [keys.token(USER, TOKEN), -used, grant],
  ] as const)
    await redis.sendOne(
      { script: LOAD_ACCOUNT, keys: [epoch, account], args: ["1", "0", amount, "0", limit, "reading", "0"] },
      MS,
    );
}

const open = (requestId: string, amount: number): Hold => ({
  requestId,
  userId: USER,
  tokenId: TOKEN,
  amount: quota(amount),
  leaseUntil: 0,
});
const createHoldCall = (id: string, amount: number, isRepeated = false) =>
  holdCall(redis.keys, { ...open(id, amount), isCharged: true }, LEASE, isRepeated);
const settlement = (id: string, charged: number) => ({
  hold: open(id, 0),
  quota: quota(charged),
  channelId: 1,
  at: 1,
});
const createSettleCall = (id: string, charged: number) =>
  settleCall(redis.keys, settlement(id, charged), `{"id":"${id}"}`);
const account = async (name: "user" | "token") => {
  const key = name === "user" ? redis.keys.user(USER) : redis.keys.token(USER, TOKEN);
  const [balance, held] = (await redis.sendOne({ command: "hmget", args: [key, "b", "h"] }, MS)) as string[];
  return { balance: Number(balance), held: Number(held ?? 0) };
};
const size = (command: string, key: string) => redis.sendOne({ command, args: [key] }, MS);

describe("batched reservations of one account", () => {
  beforeEach(() => load(100, 0, "70"));

  it("are granted or refused one by one in order", async () => {
    const calls = [createHoldCall("a", 60), createHoldCall("b", 20), createHoldCall("c", 10), createHoldCall("d", 1)];
    expect(await redis.send(calls, MS)).toEqual([
      [HELD.granted, 60, 1],
      [HELD.tokenShort, 10, 0],
      [HELD.granted, 10, 1],
      [HELD.tokenShort, 0, 0],
    ]);
    expect(await account("user")).toEqual({ balance: 100, held: 70 });
    expect(await account("token")).toEqual({ balance: 0, held: 70 });
    expect(await size("hlen", redis.keys.holds(selectShard(USER)))).toBe(2);
    expect(await size("zcard", redis.keys.leases(selectShard(USER)))).toBe(2);
  });

  it("hold once when repeated in the same or a later batch", async () => {
    expect(await redis.send([createHoldCall("a", 30), createHoldCall("a", 30, true)], MS)).toEqual([
      HELD.granted,
      HELD.granted,
    ]);
    expect(await redis.send([createHoldCall("a", 30, true)], MS)).toEqual([HELD.granted]);
    expect(await account("user")).toEqual({ balance: 100, held: 30 });
  });
});

describe("batched charges of one account", () => {
  beforeEach(() => load(1_000, 0, "u"));

  it("return one result per charge", async () => {
    await redis.send([createHoldCall("a", 10), createHoldCall("b", 20), createHoldCall("c", 30)], MS);
    const seen = renewCall(redis.keys, { hold: open("b", 20), seen: "{}", amount: undefined }, LEASE);
    await redis.sendOne(seen, MS);
    await redis.sendOne(reapCall(redis.keys, settlement("c", 3), "{}", LEASE.now + LEASE.leaseMs + 1), MS);
    const answers = await redis.send(
      [createSettleCall("a", 8), createSettleCall("x", 1), createSettleCall("c", 5), createSettleCall("b", 15)],
      MS,
    );
    expect(answers).toEqual([expect.stringMatching(/^\d+-\d+$/), SETTLED.unknown, SETTLED.reaped, expect.any(String)]);
    expect(await account("user")).toEqual({ balance: 1_000 - 3 - 8 - 15, held: 0 });
    expect(await account("token")).toEqual({ balance: -26, held: 0 });
    expect(await size("xlen", redis.keys.charges(selectShard(USER)))).toBe(3);
    expect(await size("zcard", redis.keys.leases(selectShard(USER)))).toBe(0);
    expect(await size("hlen", redis.keys.seen(selectShard(USER)))).toBe(0);
  });

  it("count once when repeated in the same or a later batch", async () => {
    await redis.send([createHoldCall("a", 10)], MS);
    const [first, second] = await redis.send([createSettleCall("a", 8), createSettleCall("a", 8)], MS);
    expect([typeof first, second]).toEqual(["string", SETTLED.before]);
    expect(await redis.send([createSettleCall("a", 8)], MS)).toEqual([SETTLED.before]);
    expect(await account("user")).toEqual({ balance: 992, held: 0 });
  });

  it("stay exact when their sum exceeds the exact integers of Lua", async () => {
    const most = Number.MAX_SAFE_INTEGER;
    await redis.send([createHoldCall("a", 1), createHoldCall("b", 1), createHoldCall("c", 1)], MS);
    await redis.send([createSettleCall("a", most), createSettleCall("b", most - 1), createSettleCall("c", 3)], MS);
    const balance = await redis.sendOne({ command: "hget", args: [redis.keys.user(USER), "b"] }, MS);
    expect(BigInt(String(balance))).toBe(1_000n - BigInt(most) - BigInt(most - 1) - 3n);
  });

  it("of released reservations are unknown", async () => {
    await redis.send([createHoldCall("a", 10)], MS);
    await redis.sendOne(releaseCall(redis.keys, open("a", 10)), MS);
    expect(await redis.send([createSettleCall("a", 8)], MS)).toEqual([SETTLED.unknown]);
    expect(await account("user")).toEqual({ balance: 1_000, held: 0 });
  });
});
