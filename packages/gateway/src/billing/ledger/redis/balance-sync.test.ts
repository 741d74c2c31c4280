import { createDatabase, type DatabaseKind, freshRedis } from "@fairway/testkit/databases";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { quietLog } from "../../../../test/kit/support.ts";
import { RedisUnavailable, type RedisClient } from "../../../redis/client.ts";
import type { RawDatabase } from "../../../storage/engines/raw.ts";
import { insertMovements } from "../booking/balance-outbox.ts";
import { createTestAccounts, granted } from "../test-harness.contract.ts";
import { createLeaseTime } from "../../reservations/lease-time.ts";
import { createBalanceSync } from "./balance-sync.ts";
import { openRedisHarness, type RedisHarness } from "./test-harness.contract.ts";
import { books } from "./traffic.contract.ts";

const KINDS: readonly DatabaseKind[] = ["mariadb", "postgres"];
const BALANCE = 1_000_000;
const POLL_OPTIONS = { timeout: 30_000, interval: 50 };

let redisUrl: string;
beforeAll(async () => {
  redisUrl = (await freshRedis()).url;
});

/** Returns a database in which the ledger of the harness does not read the outbox, so that the tests can. */
function withoutSweeps(raw: RawDatabase): RawDatabase {
  const rows: RawDatabase["rows"] = (sql, values) =>
    sql.startsWith("select user_id from balance_outbox") ? Promise.resolve([]) : raw.rows(sql, values);
  return { ...raw, rows };
}

describe.each(KINDS)("live balances updated from %s", (kind) => {
  let harness: RedisHarness;
  beforeEach(async () => {
    harness = await openRedisHarness(await createDatabase(kind), { redisUrl, wrap: withoutSweeps });
  });
  afterEach(() => harness.close());

  /** Users whose balances are in Redis, in ascending id order. */
  const knownUsers = async (count: number): Promise<number[]> => {
    const accounts = createTestAccounts(harness);
    const users: number[] = [];
    for (let at = 0; at < count; at += 1) users.push(await accounts.addUser(BALANCE));
    const know = async (user: number) => harness.ledger.release(await granted(harness.ledger, user, 0, 1));
    for (let from = 0; from < count; from += 50) await Promise.all(users.slice(from, from + 50).map(know));
    return users;
  };
  /** Inserts unapplied movements of one unit each. */
  const moved = (from: number, users: readonly number[]) =>
    harness.database.transaction(async (tx) => {
      const { kind: dialect } = harness.database;
      const movements = users.map((userId, at) => ({ ledgerId: from + at, userId, tokenId: 0, quota: -1 }));
      await insertMovements(tx, dialect, movements, harness.clock.now());
      for (const [userId, own] of Map.groupBy(users, (user) => user))
        await tx.run("update users set quota = quota - ? where id = ?", [own.length, userId]);
    });
  const waiting = async () => {
    const sql = "select count(*) as count from balance_outbox where applied_at = 0";
    return (await harness.database.rows<{ count: number }>(sql, []))[0]?.count;
  };
  const live = async (user: number) =>
    Number(await harness.redis.sendOne({ command: "hget", args: [harness.redis.keys.user(user), "b"] }, 2_000));
  const createSync = (send = harness.redis.send) =>
    createBalanceSync({
      redis: { ...harness.redis, isReady: true, send },
      database: harness.database,
      leaseTime: createLeaseTime(harness.database.kind, harness.clock),
      log: quietLog,
    });

  test(
    "apply any number of movements, and those of users after one with most of them",
    { timeout: 90_000 },
    async () => {
      const users = await knownUsers(301);
      const first = users[0] as number;
      await moved(1, [...Array.from({ length: 33_000 }, () => first), ...users.slice(1)]);
      // The server does this on its own a minute later.
      if (kind === "postgres") await harness.database.run("analyze balance_outbox", []);
      const sync = createSync();
      await sync.start();
      await expect.poll(waiting, POLL_OPTIONS).toBe(0);
      expect(await live(first)).toBe(BALANCE - 33_000);
      expect(await books(harness)).toEqual([]);
      await harness.redis.sendOne(
        { command: "hset", args: [harness.redis.keys.user(first), "b", BALANCE, "v", 0] },
        2_000,
      );
      await sync.followRecent();
      expect(await live(first)).toBe(BALANCE - 33_000);
      harness.clock.advance(600_001);
      const left = () => harness.database.rows("select id from balance_outbox limit 1", []);
      await expect.poll(left, POLL_OPTIONS).toEqual([]);
      await sync.stop();
    },
  );

  test("stop at a movement that Redis rejects, and continue from there", async () => {
    const [user = 0] = await knownUsers(1);
    let sent = 0;
    const send: RedisClient["send"] = (calls, ms) => {
      sent += 1;
      return sent === 2 ? Promise.reject(new RedisUnavailable("cut", true)) : harness.redis.send(calls, ms);
    };
    const sync = createSync(send);
    await moved(
      1,
      Array.from({ length: 2_500 }, () => user),
    );
    await sync.follow([user]);
    expect(sent).toBe(2);
    expect(await live(user)).toBe(BALANCE - 1_000);
    await sync.follow([user]);
    expect([sent, await waiting()]).toEqual([4, 0]);
    expect(await books(harness)).toEqual([]);
  });

  test("are updated for other users while one user is rejected repeatedly", async () => {
    const first = 1_000_000;
    const refused = harness.redis.keys.user(first);
    const send: RedisClient["send"] = async (calls, ms) => {
      const answers = await harness.redis.send(calls, ms);
      return answers.map((answer, at) => {
        const call = calls[at];
        return call && "script" in call && call.keys.includes(refused) ? new Error("would overflow") : answer;
      });
    };
    await moved(
      1,
      Array.from({ length: 300 }, (_, at) => first + at),
    );
    const sync = createSync(send);
    await sync.start();
    await expect.poll(waiting, POLL_OPTIONS).toBe(256);
    await sync.stop();
  }, 40_000);

  test("include movements that are committed between two ranges with ids below the first", async () => {
    const [user = 0, late = 0] = await knownUsers(2);
    await moved(
      10,
      Array.from({ length: 1_500 }, () => user),
    );
    let isFirst = true;
    const send: RedisClient["send"] = async (calls, ms) => {
      if (isFirst) await Promise.all([moved(5, [late]), moved(5_000, [late])]);
      isFirst = false;
      return harness.redis.send(calls, ms);
    };
    await createSync(send).followRecent();
    await createSync().follow([late]);
    expect(await live(late)).toBe(BALANCE - 2);
    expect(await books(harness)).toEqual([]);
  });
});
