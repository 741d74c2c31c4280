import { createDatabase, freshRedis } from "@fairway/testkit/databases";
import { startProxy, type Proxy } from "@fairway/testkit/proxy";
import type { Service } from "@fairway/testkit/services";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { quota } from "../../../money/quota.ts";
import { isRefusal, type Hold } from "../../ledger.ts";
import { createSettlement, createTestAccounts, granted, requestId } from "../../test-harness.contract.ts";
import { newPrefix, openRedisHarness, type RedisHarness } from "../test-harness.contract.ts";
import { books } from "../traffic.contract.ts";
import { adoptHolds } from "./share-rows.ts";

describe.each(["mariadb", "postgres"] as const)("a replica that lost Redis, on %s", (kind) => {
  let service: Service;
  let proxy: Proxy;
  let connected: RedisHarness;
  let cutOff: RedisHarness;
  beforeAll(async () => {
    service = await freshRedis({ isDurable: true });
    proxy = await startProxy(service.port);
    const url = await createDatabase(kind);
    const shared = { prefix: newPrefix(), part: { onOutage: "sql" as const } };
    connected = await openRedisHarness(url, { ...shared, redisUrl: service.url });
    const redisUrl = `redis://127.0.0.1:${proxy.port}`;
    cutOff = await openRedisHarness(url, { ...shared, redisUrl, clock: connected.clock });
  }, 60_000);
  afterAll(async () => {
    proxy.isClosed = false;
    await cutOff.redis.ready(10_000);
    await cutOff.close();
    await connected.close();
    await proxy.stop();
  }, 60_000);
  const cut = async () => {
    proxy.isClosed = true;
    proxy.cut();
    await vi.waitFor(() => expect(cutOff.redis.isReady).toBe(false));
  };
  const join = async () => {
    proxy.isClosed = false;
    expect(await cutOff.redis.ready(10_000)).toBe(true);
  };
  const account = async (money: number) => {
    const accounts = createTestAccounts(connected);
    const user = await accounts.addUser(money);
    return { accounts, user, token: await accounts.addToken(user, "unlimited") };
  };
  const ask = (harness: RedisHarness, userId: number, tokenId: number, amount = 10) =>
    harness.ledger.hold({ requestId: requestId(), userId, tokenId, amount: quota(amount), isCharged: true });
  const expectBooks = async ({ accounts, user }: Awaited<ReturnType<typeof account>>, money: number) => {
    await vi.waitFor(
      async () => {
        for (const { ledger } of [connected, cutOff]) await ledger.flush();
        expect(await accounts.user(user)).toMatchObject({ quota: money });
        expect(await connected.database.rows("select request_id from holds", [])).toEqual([]);
        expect(await connected.database.rows("select request_id from balance_shares", [])).toEqual([]);
        expect(await accounts.openHolds(user)).toBe(0);
        expect(await books(connected)).toEqual([]);
      },
      { timeout: 20_000, interval: 200 },
    );
  };

  it("serves, together with the others, exactly what the money covers", { timeout: 60_000 }, async () => {
    const paying = await account(35);
    const { user, token } = paying;
    await connected.ledger.release(await granted(connected.ledger, user, token, 1));
    await cut();
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, at) => {
        const harness = at % 2 === 0 ? connected : cutOff;
        const answer = await ask(harness, user, token);
        return isRefusal(answer) ? [] : [{ harness, hold: answer }];
      }),
    );
    const served = answers.flat();
    expect(served).toHaveLength(3);
    await Promise.all(served.map(({ harness, hold }) => harness.ledger.settle(createSettlement(hold, 10))));
    await join();
    await expectBooks(paying, 5);
  });

  it("serves no more while Redis pauses for longer than calls wait", { timeout: 60_000 }, async () => {
    const paying = await account(35);
    const { user, token } = paying;
    await connected.ledger.release(await granted(connected.ledger, user, token, 1));
    await cut();
    const first = await granted(connected.ledger, user, token, 10);
    await connected.redis.send([{ command: "client", args: ["pause", 700, "all"] }], 2_000);
    const answers = await Promise.all(
      Array.from({ length: 40 }, async (_, at) => {
        const harness = at % 2 === 0 ? connected : cutOff;
        const answer = await ask(harness, user, token);
        return isRefusal(answer) ? [] : [{ harness, hold: answer }];
      }),
    );
    const served = [{ harness: connected, hold: first }, ...answers.flat()];
    expect(served).toHaveLength(3);
    await Promise.all(served.map(({ harness, hold }) => harness.ledger.settle(createSettlement(hold, 10))));
    await join();
    await expectBooks(paying, 5);
  });

  it("serves all of the money while the others are idle", { timeout: 60_000 }, async () => {
    const paying = await account(500);
    const { user, token } = paying;
    await cut();
    const answers = await Promise.all(Array.from({ length: 60 }, () => ask(cutOff, user, token)));
    const served = answers.filter((answer): answer is Hold => !isRefusal(answer));
    expect(served).toHaveLength(50);
    expect(isRefusal(await ask(connected, user, token, 1))).toBe(true);
    await Promise.all(served.slice(1).map((hold) => cutOff.ledger.settle(createSettlement(hold, 9))));
    await cutOff.ledger.release(served[0] as Hold);
    await vi.waitFor(async () => expect(isRefusal(await ask(connected, user, token, 59))).toBe(false), 20_000);
    await join();
    await vi.waitFor(async () => expect((await paying.accounts.user(user)).quota).toBe(59), 20_000);
  });

  it("extends a reservation only by what the others have left", { timeout: 60_000 }, async () => {
    const paying = await account(100);
    const { user, token } = paying;
    await cut();
    const hold = await granted(cutOff.ledger, user, token, 10);
    const other = await granted(connected.ledger, user, token, 50);
    expect(await cutOff.ledger.renew(hold, createSettlement(hold, 5), quota(40))).toBe(true);
    expect(await cutOff.ledger.renew(hold, createSettlement(hold, 5), quota(60))).toBe(false);
    expect(isRefusal(await ask(connected, user, token, 11))).toBe(true);
    await cutOff.ledger.settle(createSettlement(hold, 40));
    await connected.ledger.settle(createSettlement(other, 50));
    await join();
    await expectBooks(paying, 10);
  });

  it(
    "counts what was reserved while no replica had Redis once, when several adopt it",
    { timeout: 60_000 },
    async () => {
      const { user, token } = await account(100);
      await cut();
      await connected.database.run("delete from balance_keepers", []);
      const hold = await granted(cutOff.ledger, user, token, 60);
      await Promise.all(Array.from({ length: 8 }, () => adoptHolds(connected.database)));
      const sql = "select granted from balance_shares where request_id = ?";
      expect(await connected.database.rows(sql, [hold.requestId])).toEqual([{ granted: 60 }]);
      await cutOff.ledger.release(hold);
      await join();
    },
  );

  it("restores its reservations in a Redis that was emptied", { timeout: 60_000 }, async () => {
    const paying = await account(100);
    const { user, token } = paying;
    await cut();
    const hold = await granted(cutOff.ledger, user, token, 60);
    await connected.redis.send([{ command: "flushall", args: [] }], 2_000);
    await vi.waitFor(async () => {
      const answer = await ask(connected, user, token, 41).catch(() => undefined);
      expect(answer && isRefusal(answer)).toBe(true);
    }, 20_000);
    const rest = await granted(connected.ledger, user, token, 40);
    await connected.ledger.settle(createSettlement(rest, 40));
    await cutOff.ledger.settle(createSettlement(hold, 60));
    await join();
    await expectBooks(paying, 0);
  });

  it(
    "decides alone when no replica has Redis, and its reservations count when one has it again",
    { timeout: 60_000 },
    async () => {
      const paying = await account(100);
      const { user, token } = paying;
      await cut();
      await connected.database.run("delete from balance_keepers", []);
      const started = performance.now();
      const hold = await granted(cutOff.ledger, user, token, 60);
      expect(performance.now() - started).toBeLessThan(3_000);
      await vi.waitFor(async () => {
        const answer = await ask(connected, user, token, 41);
        if (!isRefusal(answer)) await connected.ledger.release(answer);
        expect(isRefusal(answer)).toBe(true);
      }, 20_000);
      await cutOff.ledger.settle(createSettlement(hold, 60));
      await join();
      await expectBooks(paying, 40);
    },
  );
});
