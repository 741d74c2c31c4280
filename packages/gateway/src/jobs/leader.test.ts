import { eachDatabase } from "@fairway/testkit/databases";
import { PassThrough } from "node:stream";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openStoreKit, type StoreKit } from "../../test/kit/store-kit.ts";
import { createLog } from "../observability/log.ts";
import { askToStepDown } from "../storage/leases.ts";
import { createDatabaseElector, createSingleElector, LeadershipLost, type Elector } from "./leader.ts";
import { createSchedule } from "./schedule.ts";

const log = createLog({ level: "off", format: "text", out: new PassThrough() });
const LEASE_MS = 2_000;
const RENEW_MS = 40;

eachDatabase("the elector", (open) => {
  let kit: StoreKit;
  let electors: Elector[];
  /** Milliseconds by which the monotonic clock of each replica is behind or ahead. */
  let shift: Map<string, number>;
  let changes: number;

  beforeAll(async () => {
    kit = await openStoreKit(await open());
  });
  afterAll(() => kit.database.close());
  beforeEach(async () => {
    electors = [];
    shift = new Map();
    changes = 0;
    await kit.database.raw.run("delete from leases", []);
  });
  afterEach(async () => {
    for (const elector of electors) await elector.stop();
  });

  const elector = (holder: string, now = () => Date.now()) => {
    const made = createDatabaseElector({
      database: kit.database.raw,
      holder,
      clock: { now },
      log,
      metrics: { leaderChanged: () => void (changes += 1) },
      leaseMs: LEASE_MS,
      renewMs: RENEW_MS,
      elapsed: () => performance.now() + (shift.get(holder) ?? 0),
    });
    electors.push(made);
    return made;
  };

  test("the first replica leads while it renews", async () => {
    const [a, b] = [elector("a"), elector("b")];
    await a.start();
    await b.start();
    await pause(LEASE_MS * 2);
    expect([a.isLeader, b.isLeader]).toEqual([true, false]);
    expect(changes).toBe(1);
  });

  test("one of several replicas that start at once leads", async () => {
    const many = Array.from({ length: 6 }, (_, at) => elector(`r${at}`));
    await Promise.all(many.map(async (one) => one.start()));
    expect(many.filter(({ isLeader }) => isLeader)).toHaveLength(1);
  });

  test("a leader that stops releases the lease at once, and the term increases", async () => {
    const [a, b] = [elector("a"), elector("b")];
    await a.start();
    await b.start();
    const { signal } = a;
    await a.stop();
    expect(signal.aborted).toBe(true);
    expect(await elapsedUntil(() => b.isLeader)).toBeLessThan(LEASE_MS);
    expect(await terms()).toEqual([{ holder: "b", term: 2 }]);
  });

  test("a leader that is asked to step down leaves the lease to another replica, and does not take it back", async () => {
    const [a, b] = [elector("a"), elector("b")];
    await a.start();
    await b.start();
    const { signal } = a;
    expect(await askToStepDown(kit.database.raw)).toBe("a");
    await elapsedUntil(() => b.isLeader);
    expect([a.isLeader, signal.aborted]).toEqual([false, true]);
    expect(await terms()).toEqual([{ holder: "b", term: 2 }]);
    await pause(LEASE_MS);
    expect([a.isLeader, b.isLeader]).toEqual([false, true]);
    expect(await askToStepDown(kit.database.raw)).toBe("b");
    await elapsedUntil(() => a.isLeader);
    expect(await terms()).toEqual([{ holder: "a", term: 3 }]);
  });

  test("a leader that is asked to step down while it is alone leads again after half a minute", async () => {
    const a = elector("a");
    await a.start();
    await askToStepDown(kit.database.raw);
    await elapsedUntil(() => !a.isLeader);
    await pause(RENEW_MS * 5);
    expect(a.isLeader).toBe(false);
    shift.set("a", 30_000);
    await elapsedUntil(() => a.isLeader);
    expect(await terms()).toEqual([{ holder: "a", term: 2 }]);
  });

  test("no replica can be asked to step down while none leads", async () => {
    expect(await askToStepDown(kit.database.raw)).toBeUndefined();
    const a = elector("a");
    await a.start();
    await a.stop();
    expect(await askToStepDown(kit.database.raw)).toBeUndefined();
  });

  test("clocks that differ by a minute have no effect", async () => {
    const [a, b] = [elector("a", () => Date.now() - 60_000), elector("b", () => Date.now() + 60_000)];
    await a.start();
    await b.start();
    await pause(LEASE_MS * 2);
    expect([a.isLeader, b.isLeader]).toEqual([true, false]);
  });

  test("a leader that was paused does not claim to lead, and its last writes are refused", async () => {
    const [a, b] = [elector("a"), elector("b")];
    await a.start();
    const { signal } = a;
    await kit.database.raw.transaction((tx) => a.confirm(tx));
    // Like a SIGSTOP that is longer than the lease: another replica has taken over.
    shift.set("a", LEASE_MS);
    expect(a.isLeader).toBe(false);
    await kit.database.raw.run("update leases set holder = '', expires_at = 0 where name = 'leader'", []);
    await b.start();
    expect(b.isLeader).toBe(true);
    await expect(kit.database.raw.transaction((tx) => a.confirm(tx))).rejects.toThrow(LeadershipLost);
    await kit.database.raw.transaction((tx) => b.confirm(tx));
    await elapsedUntil(() => signal.aborted);
    expect(a.signal.aborted).toBe(false);
  });

  test("a lease without a renewal is taken when it expires, not before", async () => {
    await kit.database.raw.run("insert into leases (name, holder, term, expires_at) values ('leader', 'dead', 7, ?)", [
      Date.now() + 3_600_000,
    ]);
    const a = elector("a");
    await a.start();
    expect(a.isLeader).toBe(false);
    const took = await elapsedUntil(() => a.isLeader);
    expect(took).toBeGreaterThanOrEqual(LEASE_MS - RENEW_MS);
    expect(await terms()).toEqual([{ holder: "a", term: 8 }]);
  });

  test("leader-only jobs run on one replica", async () => {
    const ran: string[] = [];
    const schedules = [];
    for (const name of ["a", "b", "c"]) {
      const one = elector(name);
      await one.start();
      const job = { name: "work", everyMs: 20, isLeaderOnly: true, run: () => Promise.resolve(ran.push(name)) };
      const everywhere = { ...job, name: "both", isLeaderOnly: false, run: () => Promise.resolve(ran.push("any")) };
      const metrics = { jobSucceeded: () => {} };
      const schedule = createSchedule({
        jobs: [job, everywhere],
        elector: one,
        raw: kit.database.raw,
        clock: { now: () => Date.now() },
        log,
        metrics,
      });
      await schedule.start();
      schedules.push(schedule);
    }
    await elapsedUntil(() => ran.filter((name) => name === "a").length > 2);
    for (const schedule of schedules) await schedule.stop();
    expect(new Set(ran)).toEqual(new Set(["a", "any"]));
  });

  test("a leader that was paused between two steps of a job does not run the next step", async () => {
    const [a, b] = [elector("a"), elector("b")];
    await a.start();
    const steps: string[] = [];
    const frozen = Promise.withResolvers<void>();
    const stepped = Promise.withResolvers<void>();
    const work = async (_signal: AbortSignal, confirm: () => Promise<void>) => {
      await confirm();
      steps.push("first");
      stepped.resolve();
      await frozen.promise;
      await confirm();
      steps.push("second");
    };
    const schedule = createSchedule({
      jobs: [{ name: "work", everyMs: 20, isLeaderOnly: true, run: work }],
      elector: a,
      raw: kit.database.raw,
      clock: { now: () => Date.now() },
      log,
      metrics: { jobSucceeded: () => void steps.push("succeeded") },
    });
    await schedule.start();
    await stepped.promise;
    await kit.database.raw.run("update leases set holder = '', expires_at = 0 where name = 'leader'", []);
    await b.start();
    expect(b.isLeader).toBe(true);
    frozen.resolve();
    await schedule.stop();
    expect(steps).toEqual(["first"]);
  });

  async function terms() {
    return kit.database.raw.rows("select holder, term from leases where name = 'leader'", []);
  }
});

describe("an unresponsive database", () => {
  const NEVER = new Promise<never>(() => {});
  let state: "there" | "silent" | "refusing";
  let asked: number;
  let warned: unknown[];
  const answer = async <T>(value: T): Promise<T> => {
    asked += 1;
    if (state === "silent") return NEVER;
    if (state === "refusing") throw new Error("connection refused");
    return value;
  };
  const leader = async () => {
    [state, asked, warned] = ["there", 0, []];
    const made = createDatabaseElector({
      database: {
        kind: "mysql",
        run: () => answer(1),
        rows: <Row>() => answer<Row[]>([]),
        transaction: () => Promise.reject(new Error("not asked for")),
      },
      holder: "a",
      clock: { now: () => Date.now() },
      log: { ...log, warn: (message: string) => void warned.push(message) },
      metrics: { leaderChanged: () => {} },
      leaseMs: LEASE_MS,
      renewMs: RENEW_MS,
      answerMs: 60,
    });
    await made.start();
    expect(made.isLeader).toBe(true);
    return made;
  };

  test("leaves no leader until it answers again", async () => {
    const made = await leader();
    state = "silent";
    const { signal } = made;
    await elapsedUntil(() => signal.aborted);
    expect(made.isLeader).toBe(false);
    const before = asked;
    await elapsedUntil(() => asked > before + 2);
    state = "there";
    await elapsedUntil(() => made.isLeader);
    await made.stop();
  });

  test.each(["silent", "refusing"] as const)("does not delay the stop of a leader: %s", async (kind) => {
    const made = await leader();
    state = kind;
    const started = performance.now();
    await made.stop();
    expect(performance.now() - started).toBeLessThan(3_000);
    expect(warned).toContain("the leader lease could not be released; it expires");
    expect(made.isLeader).toBe(false);
  });
});

describe("the only replica", () => {
  test("leads until it stops", async () => {
    const elector = createSingleElector();
    const reported: boolean[] = [];
    elector.subscribe((isLeader) => reported.push(isLeader));
    expect(elector.isLeader).toBe(true);
    expect(reported).toEqual([true]);
    await elector.stop();
    expect(elector.signal.aborted).toBe(true);
  });
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function elapsedUntil(isDone: () => boolean): Promise<number> {
  const start = performance.now();
  while (!isDone()) {
    if (performance.now() - start > 30_000) throw new Error("it did not happen within 30 s");
    await pause(5);
  }
  return performance.now() - start;
}
