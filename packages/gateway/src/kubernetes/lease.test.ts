import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openStoreKit, type StoreKit } from "../../test/kit/store-kit.ts";
import { recordingLog } from "../../test/kit/support.ts";
import { createDatabaseElector, LeadershipLost, type Elector } from "../jobs/leader.ts";
import { askToStepDown } from "../storage/leases.ts";
import { KubeError, type KubeApi, type KubeObject } from "./client/api.ts";
import { KubernetesLease, lackingVerbs } from "./lease.ts";
import { MemoryCluster } from "./memory-cluster.contract.ts";

const PLACE = "/apis/coordination.k8s.io/v1/namespaces/ai/leases/fairway";
const never = new AbortController().signal;
/** A killed leader is replaced within this time. */
const FAILOVER_MS = 20_000;

type Reach = "there" | "away" | "frozen" | "forbidden";

/** A replica with its own clock, its own connection to the API server, and a process that can be paused. */
interface Replica {
  readonly elector: Elector;
  readonly lines: () => string;
  api: Reach;
  isFrozen: boolean;
}

let kit: StoreKit;
let cluster: MemoryCluster;
let replicas: Replica[];

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
  kit = await openStoreKit("sqlite::memory:");
  cluster = new MemoryCluster();
  replicas = [];
});
afterEach(async () => {
  for (const replica of replicas) Object.assign(replica, { isFrozen: true });
  vi.useRealTimers();
  await kit.database.close();
});

async function replica(holder: string, settings: { readonly skewMs?: number; readonly hasLease?: boolean } = {}) {
  const { skewMs = 0, hasLease = true } = settings;
  const { log, lines } = recordingLog();
  const clock = { now: () => Date.now() + skewMs };
  const made = { api: "there" as Reach, isFrozen: false, lines } as { -readonly [K in keyof Replica]: Replica[K] };
  const running = async () => {
    while (made.isFrozen) await new Promise((resolve) => setTimeout(resolve, 100));
  };
  const api = new Proxy(cluster.connect(), {
    get: (target, name: keyof KubeApi) => {
      const member = target[name];
      if (typeof member !== "function") return member;
      return async (...args: unknown[]) => {
        await running();
        if (made.api === "away") throw new Error("connect ECONNREFUSED");
        if (made.api === "forbidden" && name === "replace") throw new KubeError(403, 'cannot update resource "leases"');
        return (member as (...all: unknown[]) => unknown).apply(target, args);
      };
    },
  });
  const { raw } = kit.database;
  const database = {
    ...raw,
    kind: raw.kind,
    rows: async <Row>(sql: string, values: readonly unknown[]) => (
      await running(),
      raw.rows<Row>(sql, values as never)
    ),
    run: async (sql: string, values: readonly unknown[]) => (await running(), raw.run(sql, values as never)),
    transaction: raw.transaction.bind(raw),
  };
  made.elector = createDatabaseElector({
    database,
    holder,
    clock,
    log,
    metrics: { leaderChanged: () => {} },
    ...(hasLease && { permit: new KubernetesLease({ api, namespace: "ai", name: "fairway", holder, clock }) }),
  });
  replicas.push(made);
  await made.elector.start();
  return made;
}

/** Lets time pass and checks that two replicas never lead at once. */
async function pass(ms: number, isDone: () => boolean = () => false): Promise<number> {
  let passed = 0;
  for (; passed < ms && !isDone(); passed += 100) {
    await vi.advanceTimersByTimeAsync(100);
    await new Promise((resolve) => setImmediate(resolve));
    expect(replicas.filter(({ elector, isFrozen }) => elector.isLeader && !isFrozen).length).toBeLessThanOrEqual(1);
  }
  return passed;
}

const confirm = ({ elector }: Replica) => kit.database.raw.transaction((tx) => elector.confirm(tx));
const lease = async () => (await cluster.connect().get(PLACE, never)).spec as Readonly<Record<string, unknown>>;
const row = async () => (await kit.database.raw.rows("select holder, term from leases where name = 'leader'", []))[0];

describe("a leader that holds a Lease", () => {
  test("leads while it renews, and the Lease names it", async () => {
    const [a, b] = [await replica("a"), await replica("b")];
    await pass(60_000);
    expect([a.elector.isLeader, b.elector.isLeader]).toEqual([true, false]);
    expect(await lease()).toMatchObject({ holderIdentity: "a", leaseDurationSeconds: 15, leaseTransitions: 0 });
    expect(await row()).toEqual({ holder: "a", term: 1 });
  });

  test("a stop passes leadership on at the next heartbeat, and the term of the database increases", async () => {
    const [a, b] = [await replica("a"), await replica("b")];
    await a.elector.stop();
    expect(await pass(FAILOVER_MS, () => b.elector.isLeader)).toBeLessThanOrEqual(2_100);
    expect(await lease()).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
    expect(await row()).toEqual({ holder: "b", term: 2 });
  });

  test("one that is asked to step down gives up Lease and row, and another replica leads", async () => {
    const [a, b] = [await replica("a"), await replica("b")];
    await askToStepDown(kit.database.raw);
    expect(await pass(FAILOVER_MS, () => b.elector.isLeader)).toBeLessThanOrEqual(4_200);
    expect(await lease()).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
    expect(await row()).toEqual({ holder: "b", term: 2 });
    await pass(60_000);
    expect([a.elector.isLeader, b.elector.isLeader]).toEqual([false, true]);
  });

  test("a killed one is replaced within 20 seconds", async () => {
    const [a, b] = [await replica("a"), await replica("b")];
    await pass(7_300);
    a.isFrozen = true;
    expect(await pass(FAILOVER_MS, () => b.elector.isLeader)).toBeLessThan(FAILOVER_MS);
    await confirm(b);
  });

  test("one that was paused for 30 seconds finds that it leads no more, and may not write", async () => {
    const [a, b] = [await replica("a"), await replica("b")];
    const { signal } = a.elector;
    await pass(5_000);
    a.isFrozen = true;
    await pass(30_000);
    a.isFrozen = false;
    expect([a.elector.isLeader, b.elector.isLeader]).toEqual([false, true]);
    await expect(confirm(a)).rejects.toThrow(LeadershipLost);
    await confirm(b);
    await pass(5_000);
    expect(signal.aborted).toBe(true);
    expect(b.elector.isLeader).toBe(true);
  });

  test("no replica leads while the API server is away, and one does when it is back", async () => {
    const [a, b] = [await replica("a"), await replica("b")];
    await pass(5_000);
    for (const one of [a, b]) one.api = "away";
    await pass(12_000);
    expect([a.elector.isLeader, b.elector.isLeader]).toEqual([false, false]);
    await pass(48_000);
    const said = a.lines().match(/the leader lease could not be renewed/g) ?? [];
    expect(said).toHaveLength(1);
    for (const one of [a, b]) one.api = "there";
    const back = await pass(FAILOVER_MS, () => replicas.some(({ elector }) => elector.isLeader));
    expect(back).toBeLessThanOrEqual(2_100);
  });

  test("another replica takes over from one that alone lost the API server", async () => {
    const [a, b] = [await replica("a"), await replica("b")];
    await pass(5_000);
    a.api = "away";
    expect(await pass(FAILOVER_MS, () => b.elector.isLeader)).toBeLessThan(FAILOVER_MS);
    expect(a.elector.isLeader).toBe(false);
  });

  test("a deleted Lease is made again, and at most one replica leads meanwhile", async () => {
    await replica("a");
    await replica("b");
    await pass(5_000);
    const { term } = (await row()) as { readonly term: number };
    cluster.remove(PLACE);
    await pass(FAILOVER_MS, () => false);
    expect(replicas.filter(({ elector }) => elector.isLeader)).toHaveLength(1);
    const after = (await row()) as { readonly term: number; readonly holder: string };
    expect(await lease()).toMatchObject({ holderIdentity: after.holder });
    expect(after.term).toBeGreaterThanOrEqual(term);
  });

  test("clocks that differ by an hour have no effect", async () => {
    const [a, b] = [await replica("a", { skewMs: -3_600_000 }), await replica("b", { skewMs: 3_600_000 })];
    await pass(60_000);
    expect([a.elector.isLeader, b.elector.isLeader]).toEqual([true, false]);
  });

  test("a right that is withdrawn is named in the log, and another replica takes over", async () => {
    const [a, b] = [await replica("a"), await replica("b")];
    a.api = "forbidden";
    expect(await pass(FAILOVER_MS, () => b.elector.isLeader)).toBeLessThan(FAILOVER_MS);
    expect(a.lines()).toMatch(/the leader lease could not be renewed.*cannot update resource/);
  });

  test("and one that follows the database row alone wait for each other", async () => {
    const old = await replica("old", { hasLease: false });
    const next = await replica("next");
    await pass(40_000);
    expect([old.elector.isLeader, next.elector.isLeader]).toEqual([true, false]);
    await old.elector.stop();
    expect(await pass(FAILOVER_MS, () => next.elector.isLeader)).toBeLessThanOrEqual(2_100);
    await replica("older", { hasLease: false });
    await pass(40_000);
    expect(next.elector.isLeader).toBe(true);
  });
});

test("the verbs that an account lacks are named", async () => {
  const allowed = new Set(["get"]);
  const api = {
    ...cluster.connect(),
    create: (_path: string, body: object) => {
      const { spec } = body as { readonly spec: { readonly resourceAttributes: { readonly verb: string } } };
      return Promise.resolve({
        status: { allowed: allowed.has(spec.resourceAttributes.verb) },
      } as unknown as KubeObject);
    },
  };
  const settings = { api, namespace: "ai", name: "fairway", holder: "a", clock: { now: () => 0 } };
  expect(await lackingVerbs(settings, never)).toEqual(["create", "update"]);
});
