import { fork, type ChildProcess } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createDatabase, freshRedis } from "@fairway/testkit/databases";
import type { Service } from "@fairway/testkit/services";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openStoreKit, type StoreKit } from "../../../../../test/kit/store-kit.ts";
import { Secret } from "../../../../lib/secret.ts";
import { createRedisClient, type RedisClient } from "../../../../redis/client.ts";
import { createKeys, SHARDS } from "../../../../redis/keys.ts";
import { newPrefix, linesLog } from "../test-harness.contract.ts";
import { books, RICH } from "../traffic.contract.ts";

const ABANDONED_MS = 1_500;
const USERS = 40;
const CHARGE = 7;
const script = fileURLToPath(new URL("../../../../../test/processes/settler-process.ts", import.meta.url));

/** Three processes read the same streams; one is stopped or killed between reading and acknowledging. */
describe("charges delivered to a settler", () => {
  let service: Service;
  let kit: StoreKit;
  let url: string;
  let redis: RedisClient;
  let ids: number[];
  let prefix: string;
  const replicas: Replica[] = [];

  beforeAll(async () => {
    service = await freshRedis();
  });
  beforeEach(async () => {
    url = await createDatabase("mariadb");
    kit = await openStoreKit(url);
    ids = Array.from({ length: USERS }, (_, at) => at + 1);
    prefix = newPrefix();
    const log = linesLog([]);
    redis = createRedisClient({ url: new Secret(service.url), keys: createKeys(prefix), log, name: "test" });
    expect(await redis.ready(30_000)).toBe(true);
    const marks = ids.map(() => "(?, ?, ?, '', '', 1, 1, ?, 'default', ?, 0)").join(", ");
    await kit.database.raw.run(
      `insert into users (id, username, username_key, password, display_name, role, status, quota, \`group\`, aff_code, created_at) values ${marks}`,
      ids.flatMap((id) => [id, `user${id}`, `user${id}`, RICH, `aff${id}`]),
    );
  });
  afterEach(async () => {
    for (const { child } of replicas.splice(0)) child.kill("SIGKILL");
    await redis.close();
    await kit.database.close();
  });
  afterAll(() => service.stop());

  /** Starts replicas whose settlers pause before their next batch; returns the first to pause and the others. */
  async function standing(where: "before" | "after"): Promise<readonly [Replica, Replica[]]> {
    const started = Array.from(
      { length: 3 },
      () =>
        new Replica(
          fork(script, [url, service.url, prefix, String(ABANDONED_MS), ids.join()], {
            stdio: ["ignore", "ignore", "inherit", "ipc"],
          }),
        ),
    );
    replicas.push(...started);
    for (const replica of started) await replica.says("ready");
    const [charger] = started as [Replica];
    // Loading balances for the first time uses separate transactions.
    charger.child.send("hold");
    await charger.says("holds");
    for (const { child } of started) child.send(where);
    charger.child.send("settle");
    await until(async () => (await waiting()) === USERS);
    const first = await Promise.any(started.map(async (replica) => (await replica.says("paused"), replica)));
    const others = started.filter((one) => one !== first);
    return [first, others];
  }

  const booked = async () =>
    Number(
      (await kit.database.raw.rows<{ n: number }>("select count(*) as n from ledger where kind = 'consume'", []))[0]?.n,
    );
  const waiting = async () => {
    const calls = Array.from({ length: SHARDS }, (_, shard) => ({
      command: "xlen",
      args: [redis.keys.charges(shard)],
    }));
    return (await redis.send(calls, 2_000)).reduce<number>((sum, length) => sum + Number(length), 0);
  };
  const until = async (isTrue: () => Promise<boolean>) => {
    const started = performance.now();
    while (!(await isTrue())) {
      if (performance.now() - started > 20_000) throw new Error("it did not happen within 20 s");
      await pause(20);
    }
    return performance.now() - started;
  };

  /**
   * Expects each charge exactly once in the ledger and in the balances of the database and Redis, and empty streams.
   */
  async function expectOnce(): Promise<void> {
    await until(async () => (await waiting()) === 0);
    const rows = await kit.database.raw.rows<{ n: number; of: number; sum: number }>(
      "select count(*) as n, count(distinct request_id) as of, sum(quota) as sum from ledger where kind = 'consume'",
      [],
    );
    expect(rows.map(({ n, of, sum }) => [n, of, sum].map(Number))).toEqual([[USERS, USERS, -USERS * CHARGE]]);
    const balances = await kit.database.raw.rows<{ quota: number }>("select distinct quota from users", []);
    expect(balances).toEqual([{ quota: RICH - CHARGE }]);
    expect(await books({ redis, database: kit.database.raw })).toEqual([]);
  }

  test.each(["before", "after"] as const)(
    "are booked once when it resumes after a takeover, paused %s its commit",
    { timeout: 60_000 },
    async (where) => {
      const [stopped, others] = await standing(where);
      stopped.child.kill("SIGSTOP");
      const stoppedAt = performance.now();
      for (const { child } of others) child.send("go");
      await pause(ABANDONED_MS / 2);
      expect(await waiting()).toBeGreaterThan(0);
      await until(async () => (await waiting()) === 0);
      expect(performance.now() - stoppedAt).toBeGreaterThan(ABANDONED_MS * 0.8);
      expect(await booked()).toBe(USERS);
      stopped.child.kill("SIGCONT");
      stopped.child.send("go");
      await pause(1_000);
      await expectOnce();
    },
  );

  test("are booked by others when it is killed", { timeout: 60_000 }, async () => {
    const [killed, others] = await standing("before");
    killed.child.kill("SIGKILL");
    for (const { child } of others) child.send("go");
    await until(async () => (await booked()) === USERS);
    await expectOnce();
  });
});

class Replica {
  readonly child: ChildProcess;
  readonly #heard: unknown[] = [];
  readonly #waiting = new Map<unknown, () => void>();

  constructor(child: ChildProcess) {
    this.child = child;
    child.on("message", (message) => {
      this.#heard.push(message);
      this.#waiting.get(message)?.();
    });
  }

  async says(text: string): Promise<void> {
    if (!this.#heard.includes(text)) await new Promise<void>((resolve) => this.#waiting.set(text, resolve));
  }
}
