import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openStoreKit, type StoreKit } from "../../../test/kit/store-kit.ts";
import { createReplicaReports, listReplicas, type ReplicaReportDeps } from "./replicas.ts";

eachDatabase("replicas", (open) => {
  let kit: StoreKit;
  beforeAll(async () => {
    kit = await openStoreKit(await open());
  });
  afterAll(() => kit.database.close());

  let now = 1_800_000_000_000;
  const clock = { now: () => now };
  const log = {
    warn: (message: string, fields?: object) => expect.unreachable(`${message} ${JSON.stringify(fields)}`),
  };
  let revision = 7;
  const listeners = new Set<() => void>();
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const replica = (change: Partial<ReplicaReportDeps>) =>
    createReplicaReports({
      database: kit.database,
      clock,
      log,
      instance: "pod-1",
      version: "1.2.3",
      leading: { isLeader: true, subscribe: () => {} },
      running: { requests: 4, byChannel: () => new Map([[7, 3]]) },
      snapshots: { revision: () => revision, subscribe },
      ...change,
    });
  const names = async () => (await listReplicas(kit.database, clock)).map(({ instance }) => instance);

  test("report themselves when they start, and disappear when they stop in order", async () => {
    const first = replica({});
    const second = replica({ instance: "pod-2", version: "1.2.4", leading: { isLeader: false, subscribe: () => {} } });
    await first.start();
    now += 1_000;
    await second.start();
    expect(await listReplicas(kit.database, clock)).toMatchObject([
      {
        instance: "pod-1",
        version: "1.2.3",
        is_leader: true,
        is_lost: false,
        running: 4,
        revision: 7,
        channels: { 7: 3 },
      },
      { instance: "pod-2", version: "1.2.4", is_leader: false },
    ]);
    await second.stop();
    expect(await names()).toEqual(["pod-1"]);
    await first.stop();
    expect(await names()).toEqual([]);
  });

  test("are shown as lost when they stop reporting, and leave the list after an hour", async () => {
    const killed = replica({ instance: "killed" });
    await killed.start();
    now += 120_000;
    expect(await listReplicas(kit.database, clock)).toMatchObject([{ instance: "killed", is_lost: true }]);
    now += 3_600_000;
    const alive = replica({ instance: "alive" });
    await alive.start();
    expect(await names()).toEqual(["alive"]);
    await alive.stop();
    await killed.stop();
  });

  test("a change of the leader is reported at once", async () => {
    const changes = new Set<() => void>();
    const leading = { isLeader: false, subscribe: (listener: () => void) => void changes.add(listener) };
    const reporting = replica({ instance: "next", leading });
    await reporting.start();
    leading.isLeader = true;
    for (const notify of changes) notify();
    await expect
      .poll(async () => (await listReplicas(kit.database, clock))[0])
      .toMatchObject({ instance: "next", is_leader: true });
    await reporting.stop();
  });

  test("other requests than the last report has are reported soon, and the answering process counts its own now", async () => {
    const running = { requests: 1, byChannel: () => counts };
    let counts = new Map([[3, 1]]);
    const busy = replica({ instance: "busy", running, changeMs: 20 });
    await busy.start();
    counts = new Map([
      [3, 1],
      [5, 2],
    ]);
    const listed = () => listReplicas(kit.database, clock);
    await expect.poll(async () => (await listed())[0]?.channels).toEqual({ 3: 1, 5: 2 });
    now += 120_000;
    const live = { instance: "busy", running: { requests: 9, byChannel: () => new Map([[4, 9]]) } };
    await expect
      .poll(() => listReplicas(kit.database, clock, live))
      .toMatchObject([{ running: 9, channels: { 4: 9 }, is_lost: false, seen_at: now / 1000 }]);
    await busy.stop();
  });

  test("a replica of an earlier version has no channels", async () => {
    const row = { instance: "old", version: "1", started_at: 1, seen_at: now / 1000, is_leader: 0, running: 2 };
    await kit.database.db.insertInto("replicas").values(row).execute();
    expect(await listReplicas(kit.database, clock)).toMatchObject([{ instance: "old", running: 2, channels: {} }]);
    await kit.database.db.deleteFrom("replicas").execute();
  });

  test("a new revision of channels and options is reported at once", async () => {
    listeners.clear();
    const reporting = replica({ instance: "follower" });
    await reporting.start();
    revision = 8;
    for (const notify of listeners) notify();
    await expect.poll(async () => (await listReplicas(kit.database, clock))[0]?.revision).toBe(8);
    await reporting.stop();
    expect(listeners.size).toBe(0);
  });
});
