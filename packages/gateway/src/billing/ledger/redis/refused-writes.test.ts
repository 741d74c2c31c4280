import { createDatabase, freshRedis } from "@fairway/testkit/databases";
import type { Service } from "@fairway/testkit/services";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import type { RawDatabase, RawTransaction } from "../../../storage/engines/raw.ts";
import { createTestAccounts, granted, createLogDetail, createSettlement } from "../test-harness.contract.ts";
import { newPrefix, openRedisHarness, type RedisHarness } from "./test-harness.contract.ts";
import { books, expectCharged, openHarnesses, RICH } from "./traffic.contract.ts";

/** Decides by the text of a statement and its values. */
type Refuses = (statement: string) => boolean;

/** Creates a database that rejects some statements with an unknown error. */
function refusing() {
  let refuses: Refuses = () => false;
  const wrap = (raw: RawDatabase): RawDatabase => ({
    ...raw,
    transaction: (work) =>
      raw.transaction((tx) => {
        const run: RawTransaction["run"] = (sql, values) =>
          refuses([sql, ...values].join(" "))
            ? Promise.reject(new Error("the packet is too large"))
            : tx.run(sql, values);
        return work({ ...tx, run, rows: tx.rows.bind(tx) });
      }),
  });
  return { wrap, when: (some: Refuses) => (refuses = some) };
}

const isPoison: Refuses = (statement) => statement.startsWith("insert into logs") && statement.includes("poison");

describe("a write that the database rejects", () => {
  let service: Service;
  beforeAll(async () => {
    service = await freshRedis();
  });

  const settleSome = async (harness: RedisHarness, user: number, contents: readonly string[]) => {
    const holds = [];
    for (const _ of contents) holds.push(await granted(harness.ledger, user, 0, 10));
    for (const [at, hold] of holds.entries())
      await harness.ledger.settle(
        createSettlement(hold, 5, { log: createLogDetail(0, { content: contents[at] ?? "" }) }),
      );
  };
  const contents = async (harness: RedisHarness, user: number) =>
    (await createTestAccounts(harness).logs(user)).map(({ content }) => content).toSorted();

  it("for a log row loses the row but not the charge, and blocks no other charge", { timeout: 60_000 }, async () => {
    const database = refusing();
    const { harness, accounts, user } = await openHarnesses(service, { isPair: false, wrap: database.wrap });
    database.when(isPoison);
    await settleSome(harness, user, ["fine", "poison", "fine", "fine"]);
    await harness.ledger.flush();
    expect(await accounts.user(user)).toMatchObject({ quota: RICH - 20, used_quota: 20, request_count: 4 });
    expect(await contents(harness, user)).toEqual(["fine", "fine", "fine"]);
    expect(harness.lines.join("")).toContain("the database rejected a log row");
    expect(await books(harness)).toEqual([]);
    await harness.close();
  });

  it("for a charge is retried while the others are booked", { timeout: 60_000 }, async () => {
    const database = refusing();
    const part = { abandonedMs: 600 };
    const { harness, accounts, user } = await openHarnesses(service, { isPair: false, wrap: database.wrap, part });
    const refused = await granted(harness.ledger, user, 0, 10);
    database.when((statement) => statement.startsWith("insert into ledger") && statement.includes(refused.requestId));
    await harness.ledger.settle(createSettlement(refused, 7));
    await settleSome(harness, user, ["fine", "fine"]);
    const used = async () => {
      const [row] = await harness.database.rows<{ used: number }>("select used_quota as used from users where id = ?", [
        user,
      ]);
      return row?.used;
    };
    await expect.poll(used, { timeout: 20_000 }).toBe(10);
    await pause(1_500);
    expect(await used()).toBe(10);
    database.when(() => false);
    await expect.poll(used, { timeout: 20_000 }).toBe(17);
    expect(await accounts.user(user)).toMatchObject({ quota: RICH - 17 });
    expect(await books(harness)).toEqual([]);
    await harness.close();
  });

  it("does not block the recovery of an emptied Redis", { timeout: 60_000 }, async () => {
    const database = refusing();
    const { harness, accounts, user } = await openHarnesses(service, { isPair: false, wrap: database.wrap });
    database.when((statement) => statement.startsWith("insert into ledger"));
    await settleSome(harness, user, ["fine", "poison", "fine"]);
    while (harness.ledger.pending > 0) await pause(5);
    await harness.redis.sendOne({ command: "flushall", args: [] }, 1_000);
    database.when(isPoison);
    await harness.ledger.release(await granted(harness.ledger, user, 0, 10));
    await harness.ledger.flush();
    expect(await accounts.user(user)).toMatchObject({ quota: RICH - 15, used_quota: 15 });
    expect(await contents(harness, user)).toEqual(["fine", "fine"]);
    expect(await books(harness)).toEqual([]);
    await harness.close();
  });

  it("for the log database does not delay a stop", { timeout: 60_000 }, async () => {
    let isAway = false;
    const { harness, user } = await openHarnesses(service, {
      isPair: false,
      logUrl: await createDatabase("mariadb"),
      wrap: (raw) => ({
        ...raw,
        transaction: (work) =>
          raw.transaction((tx) =>
            work({
              ...tx,
              run: tx.run.bind(tx),
              rows: (sql, values) =>
                isAway && sql.includes("from log_outbox")
                  ? Promise.reject(new Error("the log database is away"))
                  : tx.rows(sql, values),
            }),
          ),
      }),
    });
    isAway = true;
    const kicking = setInterval(() => void settleSome(harness, user, ["fine"]), 100);
    await pause(500);
    const startedAt = performance.now();
    await harness.ledger.flush(3_000).catch(() => undefined);
    expect(performance.now() - startedAt).toBeLessThan(6_000);
    clearInterval(kicking);
    isAway = false;
    await harness.close();
  });
});

describe("a journal", () => {
  const away = () => {
    let isAway = false;
    const wrap = (raw: RawDatabase): RawDatabase => ({
      ...raw,
      transaction: (work) => (isAway ? Promise.reject(new Error("the database is away")) : raw.transaction(work)),
    });
    return { wrap, set: (is: boolean) => (isAway = is) };
  };

  it(
    "of an earlier process is compared completely, because Redis may have lost acknowledged charges",
    { timeout: 60_000 },
    async () => {
      const service = await freshRedis();
      const database = away();
      const journalDir = mkdtempSync(join(tmpdir(), "fairway-journal-"));
      const shared = { redisUrl: service.url, prefix: newPrefix(), wrap: database.wrap };
      const url = await createDatabase("mariadb");
      const first = await openRedisHarness(url, { ...shared, journalDir });
      const accounts = createTestAccounts(first);
      const user = await accounts.addUser(RICH);
      const hold = await granted(first.ledger, user, 0, 50);
      database.set(true);
      await first.ledger.settle(createSettlement(hold, 7, { log: createLogDetail(0, {}) }));
      while (first.ledger.pending > 0) await pause(5);
      await first.ledger.stop();
      await first.redis.sendOne({ command: "flushall", args: [] }, 1_000);
      await first.crash();
      database.set(false);
      const other = await openRedisHarness(url, { ...shared, clock: first.clock });
      await other.ledger.release(await granted(other.ledger, user, 0, 10));
      const again = await openRedisHarness(url, { ...shared, clock: first.clock, journalDir });
      await expect
        .poll(() => again.lines.join(""), { timeout: 10_000 })
        .toContain("were recovered from an old journal");
      await expectCharged([again, other], createTestAccounts(again), user, 7);
      for (const harness of [again, other]) await harness.close();
    },
  );
});
