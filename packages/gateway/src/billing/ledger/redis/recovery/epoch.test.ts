import { createDatabase, freshRedis } from "@fairway/testkit/databases";
import { startProxy } from "@fairway/testkit/proxy";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { SHARDS } from "../../../../redis/keys.ts";
import { openDatabase } from "../../../../storage/database.ts";
import { createTestAccounts, granted, requestId, createSettlement } from "../../test-harness.contract.ts";
import { nextEpoch, readLedgerState } from "./epoch-store.ts";
import { quota } from "../../../money/quota.ts";
import { createEpochs, type Memory } from "./epoch.ts";
import { linesLog, newPrefix, openRedisHarness, type RedisHarness } from "../test-harness.contract.ts";
import { books, expectCharged, openHarnesses, RICH } from "../traffic.contract.ts";

const flushall = ({ redis }: RedisHarness) => redis.sendOne({ command: "flushall", args: [] }, 1_000);

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 15_000;
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error("it does not come");
    await pause(5);
  }
}

describe("a new epoch", () => {
  it("is completed by a process that cannot book when the one that began it died", { timeout: 60_000 }, async () => {
    const service = await freshRedis();
    const { harness, accounts, user, token } = await openHarnesses(service, { isPair: false });
    const hold = await granted(harness.ledger, user, token, 50);
    await nextEpoch(harness.database, (await readLedgerState(harness.database)).epoch);
    await harness.ledger.settle(createSettlement(hold, 7));
    await harness.ledger.flush();
    expect((await accounts.user(user)).quota).toBe(RICH - 7);
    await granted(harness.ledger, user, token, 50);
    expect(await books(harness)).toEqual([]);
    await harness.close();
  });

  it(
    "restarts at once when Redis is emptied while the processes wait for each other",
    { timeout: 60_000 },
    async () => {
      const service = await freshRedis();
      const { harness, user, token } = await openHarnesses(service, { isPair: false, part: { barrierMs: 200 } });
      const { redis, database, ledger } = harness;
      await granted(ledger, user, token, 50);
      const { epoch } = await readLedgerState(database);
      const epochNow = async () => (await readLedgerState(database)).epoch;
      const beat = () => redis.sendOne({ command: "zadd", args: [redis.keys.replicas, Date.now(), "other"] }, 1_000);
      const catchUp = (at: number) =>
        redis.sendOne({ command: "hset", args: [redis.keys.caughtUp, "other", at] }, 1_000);
      const beats = setInterval(() => void beat(), 50);
      await flushall(harness);
      await until(async () => (await epochNow()) === epoch + 1);
      await until(
        async () => Number(await redis.sendOne({ command: "get", args: [redis.keys.recovering] }, 1_000)) > epoch,
      );
      await flushall(harness);
      const since = performance.now();
      await until(async () => (await epochNow()) === epoch + 2);
      await catchUp(epoch + 2);
      await granted(ledger, user, token, 50);
      // Waiting for the emptied state would take six seconds.
      expect(performance.now() - since).toBeLessThan(4_000);
      clearInterval(beats);
      await harness.close();
    },
  );

  it("is completed by both processes when both begin one", { timeout: 60_000 }, async () => {
    const service = await freshRedis();
    const { harness, user, token } = await openHarnesses(service, { isPair: false, part: { barrierMs: 1_500 } });
    const { redis, database, ledger } = harness;
    await granted(ledger, user, token, 50);
    const { epoch } = await readLedgerState(database);
    await flushall(harness);
    const get = async (key: string) => Number(await redis.sendOne({ command: "get", args: [key] }, 1_000));
    await until(async () => (await get(redis.keys.recovering)) === epoch + 1);
    await nextEpoch(database, epoch + 1);
    await redis.sendOne({ command: "set", args: [redis.keys.recovering, epoch + 2] }, 1_000);
    await granted(ledger, user, token, 50);
    expect(await get(redis.keys.epoch(0))).toBe(epoch + 2);
    await harness.close();
  });

  it("of another process retries until the own journal is replayed to Redis", { timeout: 60_000 }, async () => {
    const service = await freshRedis();
    const { harness } = await openHarnesses(service, { isPair: false });
    const { redis, database } = harness;
    const states: Memory[] = [];
    let failures = 2;
    const replay = (memory: Memory) => {
      states.push(memory);
      const fails = memory === "doubtful" && failures-- > 0;
      return fails ? Promise.reject(new Error("the database did not answer in time")) : Promise.resolve();
    };
    const state = await readLedgerState(database);
    const late = createEpochs({ redis, database, state, log: linesLog([]), instanceId: "late", replay });
    await late.start();
    const epoch = await nextEpoch(database, state.epoch);
    const lead = (shard: number) => ({ command: "set", args: [redis.keys.epoch(shard), epoch] });
    await redis.send(
      Array.from({ length: SHARDS }, (_, shard) => lead(shard)),
      1_000,
    );
    const caughtUp = { command: "hget", args: [redis.keys.caughtUp, "late"] };
    await until(async () => Number(await redis.sendOne(caughtUp, 1_000)) === epoch);
    expect(states).toEqual(["intact", "doubtful", "doubtful", "doubtful"]);
    await late.stop();
    await harness.close();
  });

  it("begins after the database was restored, and loads balances from it", { timeout: 60_000 }, async () => {
    const service = await freshRedis();
    const { harness, shared, url, user, token } = await openHarnesses(service, { isPair: false });
    const before = await readLedgerState(harness.database);
    await harness.ledger.settle(createSettlement(await granted(harness.ledger, user, token, 50), 7));
    await flushall(harness);
    await granted(harness.ledger, user, token, 50);
    await harness.ledger.flush();
    await harness.ledger.stop();
    await harness.crash();
    const restored = openDatabase({ url, log: linesLog([]) });
    await restored.raw.run("update ledger_state set number = ? where name = 'epoch'", [before.epoch]);
    await restored.raw.run("update users set quota = ? where id = ?", [500, user]);
    await restored.close();
    const next = await openRedisHarness(url, { ...shared, journalDir: harness.journalDir });
    const ask = { requestId: requestId(), userId: user, tokenId: 0, amount: quota(501), isCharged: true };
    expect(await next.ledger.hold(ask)).toMatchObject({ refused: "user" });
    await next.ledger.settle(createSettlement(await granted(next.ledger, user, 0, 50), 7));
    await next.ledger.flush();
    expect((await createTestAccounts(next).user(user)).quota).toBe(493);
    await next.close();
  });

  it(
    "is not begun by a process that cannot reach Redis, so that others continue to book",
    { timeout: 60_000 },
    async () => {
      const service = await freshRedis();
      const proxy = await startProxy(service.port);
      const url = await createDatabase("mariadb");
      const shared = { prefix: newPrefix(), part: { barrierMs: 300 } };
      const cutOff = await openRedisHarness(url, { ...shared, redisUrl: `redis://127.0.0.1:${proxy.port}` });
      const harness = await openRedisHarness(url, { ...shared, redisUrl: service.url, clock: cutOff.clock });
      const accounts = createTestAccounts(harness);
      const user = await accounts.addUser(RICH);
      const { epoch } = await readLedgerState(harness.database);
      await flushall(harness);
      await until(async () => (await readLedgerState(harness.database)).epoch > epoch);
      proxy.isClosed = true;
      proxy.cut();
      await pause(3_500);
      expect((await readLedgerState(harness.database)).epoch).toBeLessThanOrEqual(epoch + 2);
      await harness.ledger.settle(createSettlement(await granted(harness.ledger, user, 0, 50), 7));
      await harness.ledger.flush();
      proxy.isClosed = false;
      await cutOff.redis.ready(30_000);
      await expectCharged([cutOff, harness], accounts, user, 7);
      for (const one of [cutOff, harness]) await one.close();
      await proxy.stop();
    },
  );
});
