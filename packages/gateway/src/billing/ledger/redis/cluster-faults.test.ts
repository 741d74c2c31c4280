import { createDatabase } from "@fairway/testkit/databases";
import { type RedisCluster, type Service, startRedisCluster } from "@fairway/testkit/services";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createTestAccounts, type Accounts, granted, createSettlement } from "../test-harness.contract.ts";
import { newPrefix, openRedisHarness, type RedisHarness } from "./test-harness.contract.ts";
import type { OnOutage } from "../../reservations/live-reservations.ts";
import { books, RECOVERY_MS, RICH, traffic } from "./traffic.contract.ts";

/** More users than shards, so that every primary has some. */
const USERS = 70;
const TRAFFIC = 6;

interface Scene {
  readonly harnesses: readonly [RedisHarness, RedisHarness];
  readonly accounts: Accounts;
  readonly users: readonly { readonly user: number; readonly token: number }[];
}

let cluster: RedisCluster;
beforeAll(async () => void (cluster = await startRedisCluster({ replicaPrimaries: [0], spare: 1 })));
afterAll(() => cluster.stop());

/** Opens two replicas, and users on all primaries. */
async function openScene(onOutage: OnOutage = "deny"): Promise<Scene> {
  const url = await createDatabase("mariadb");
  const shared = { redisUrl: cluster.url, prefix: newPrefix(), part: { barrierMs: 300, onOutage } };
  const harness = await openRedisHarness(url, shared);
  const other = await openRedisHarness(url, { ...shared, clock: harness.clock });
  const accounts = createTestAccounts(harness);
  const users: { user: number; token: number }[] = [];
  for (let at = 0; at < USERS; at += 1) {
    const user = await accounts.addUser(RICH);
    users.push({ user, token: await accounts.addToken(user, RICH) });
  }
  return { harnesses: [harness, other], accounts, users };
}

/** Sends requests of some users of each primary; the returned function stops them and expects each charge once. */
function load({ harnesses, accounts, users }: Scene): () => Promise<void> {
  const step = Math.floor(USERS / TRAFFIC);
  const some = users.filter((_, at) => at % step === 0);
  const stops = some.map(({ user, token }) => traffic(harnesses, user, token));
  return async () => {
    const charged = await Promise.all(stops.map((stop) => stop()));
    await vi.waitFor(
      async () => {
        for (const { ledger } of harnesses) await ledger.flush();
        for (const [at, { user }] of some.entries()) {
          expect(await accounts.user(user)).toMatchObject({
            quota: RICH - (charged[at] ?? 0),
            used_quota: charged[at],
          });
          const logs = await accounts.logs(user);
          expect(logs.reduce((sum, log) => sum + log.quota, 0)).toBe(charged[at]);
          expect(new Set(logs.map((log) => log.request_id)).size).toBe(logs.length);
        }
        expect(await books(harnesses[0])).toEqual([]);
      },
      { timeout: RECOVERY_MS, interval: 200 },
    );
  };
}

const epochsBegun = ({ harnesses }: Scene) =>
  new Set(
    harnesses
      .flatMap(({ lines }) => lines.join("").match(/balances in Redis are reloaded".*?"epoch":\d+/g) ?? [])
      .map((line) => /\d+$/.exec(line)?.[0]),
  ).size;

describe("the ledger when a Redis Cluster changes under load", () => {
  it("and slots move: charges once, without a new epoch", { timeout: 120_000 }, async () => {
    const scene = await openScene();
    const [first, second, , spare] = cluster.primaries as [Service, Service, Service, Service];
    const before = epochsBegun(scene);
    const check = load(scene);
    await pause(300);
    await cluster.reshard(second, first, 700);
    await cluster.reshard(first, second, 700);
    await cluster.reshard(second, spare, 700);
    await cluster.reshard(spare, second, 700);
    await check();
    expect(epochsBegun(scene)).toBe(before);
    for (const harness of scene.harnesses) await harness.close();
  });

  it("and a move is broken off in the middle of a hold: refuses that user and names the cure", async () => {
    const scene = await openScene();
    const [{ ledger, redis, lines }] = scene.harnesses;
    const [{ user, token }] = scene.users as [Scene["users"][number]];
    const running = await granted(ledger, user, token, 100);
    const key = redis.keys.user(user);
    const [slot, from] = [await cluster.readSlot(key), await cluster.findOwner(key)];
    const to = cluster.primaries.find((node) => node !== from) as Service;
    const [fromId, toId] = await Promise.all([from, to].map((node) => cluster.ask(node, "cluster", "myid")));
    await cluster.ask(to, "cluster", "setslot", slot, "importing", String(fromId));
    await cluster.ask(from, "cluster", "setslot", slot, "migrating", String(toId));
    await cluster.ask(from, "migrate", "127.0.0.1", to.port, key, 0, 5_000);
    await expect(granted(ledger, user, token, 100)).rejects.toMatchObject({ code: "balances_unavailable" });
    expect(lines.join("")).toContain("if that does not end, run redis-cli --cluster fix");
    // The charge waits until the slot has been moved.
    await ledger.settle(createSettlement(running, 60));
    await cluster.move(key, to);
    await ledger.settle(createSettlement(await granted(ledger, user, token, 100), 40));
    await vi.waitFor(
      async () => {
        await ledger.flush();
        expect(await scene.accounts.user(user)).toMatchObject({ quota: RICH - 100, used_quota: 100 });
        expect(await books(scene.harnesses[0])).toEqual([]);
      },
      { timeout: RECOVERY_MS, interval: 200 },
    );
    await cluster.move(key, from);
    for (const harness of scene.harnesses) await harness.close();
  });

  it("and a primary without a replica is killed and comes back: charges once", { timeout: 120_000 }, async () => {
    const scene = await openScene();
    const check = load(scene);
    const [, , third] = cluster.primaries;
    for (let round = 0; round < 2; round += 1) {
      await pause(500);
      await third?.kill();
      await pause(2_500);
      await third?.restart();
      await cluster.agreed();
    }
    await pause(500);
    await check();
    expect(epochsBegun(scene)).toBeGreaterThan(1);
    for (const harness of scene.harnesses) await harness.close();
  });

  it("and a primary is away: reserves for its users alone in the database, if allowed", async () => {
    const scene = await openScene("sql");
    const [{ ledger, redis, database }] = scene.harnesses;
    const [, , third] = cluster.primaries as [Service, Service, Service];
    const owners = await Promise.all(scene.users.map(({ user }) => cluster.findOwner(redis.keys.user(user))));
    await third.kill();
    await vi.waitFor(() => expect(redis.isReady).toBe(false));
    const holds = await Promise.all(scene.users.map(({ user, token }) => granted(ledger, user, token, 100)));
    const rows = await database.rows<{ user_id: number }>("select user_id from holds", []);
    expect(new Set(rows.map((row) => row.user_id))).toEqual(
      new Set(scene.users.filter((_, at) => owners[at] === third).map(({ user }) => user)),
    );
    await Promise.all(holds.map((hold) => ledger.settle(createSettlement(hold, 40))));
    await third.restart();
    await vi.waitFor(
      async () => {
        await ledger.flush();
        for (const { user } of scene.users)
          expect(await scene.accounts.user(user)).toMatchObject({ quota: RICH - 40, used_quota: 40 });
        expect(await books(scene.harnesses[0])).toEqual([]);
      },
      { timeout: RECOVERY_MS, interval: 200 },
    );
    for (const harness of scene.harnesses) await harness.close();
  });

  it("and a replica takes the place of a killed primary: charges once", { timeout: 120_000 }, async () => {
    const scene = await openScene();
    const before = epochsBegun(scene);
    const check = load(scene);
    const [first] = cluster.primaries;
    await pause(500);
    await first?.kill();
    await cluster.agreed();
    await pause(2_000);
    await first?.restart();
    await pause(500);
    await check();
    // If one gateway replica finds the new primary later than the other, it begins another epoch.
    expect(epochsBegun(scene) - before).toBeOneOf([1, 2]);
    for (const harness of scene.harnesses) await harness.close();
  });
});
