// Each event about the gateway itself, by its real cause.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { eachDatabase, freshRedis } from "@fairway/testkit/databases";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openStoreKit, type StoreKit } from "../../test/kit/store-kit.ts";
import { openHarnesses } from "../billing/ledger/redis/traffic.contract.ts";
import { createSettlement, granted } from "../billing/ledger/test-harness.contract.ts";
import { createOutbound } from "../lib/net/outbound.ts";
import { DIRECT } from "../lib/net/network.ts";
import { freeLease, readLease, renewLease, takeLease } from "../storage/leases.ts";
import type { RawDatabase } from "../storage/engines/raw.ts";
import { backlogWatchJob } from "./backlog-watch.ts";
import { leaderWatchJob } from "./leader-watch.ts";
import { redisWatchJob } from "./redis-watch.ts";
import type { ScheduledJob } from "./schedule.ts";
import { versionCheckJob } from "./version-check.ts";

const MINUTE_MS = 60_000;
const START_MS = 1_700_000_000_000;

const run = (job: ScheduledJob) => job.run(new AbortController().signal, () => Promise.resolve());

async function listEvents(database: RawDatabase, type: string): Promise<unknown[]> {
  const rows = await database.rows<{ data: string }>("select data from events where type = ? order by id", [type]);
  return rows.map(({ data }) => JSON.parse(data) as unknown);
}

/** A clock and a monotonic one that move together. */
function createTime() {
  let passed = 0;
  return {
    clock: { now: () => START_MS + passed },
    elapsed: () => passed,
    pass: (ms: number) => void (passed += ms),
  };
}

describe("Redis and its charges", { timeout: 120_000 }, () => {
  test("a Redis that is away for long makes one event for all replicas, and another the next time", async () => {
    const service = await freshRedis();
    const { harness } = await openHarnesses(service, { isPair: false });
    const { database, ledger } = harness;
    const time = createTime();
    const replicas = ["a", "b"].map((instance) =>
      redisWatchJob({ ...time, database, instance, check: () => ledger.check() }),
    );
    const look = async () => {
      for (const replica of replicas) await run(replica);
      time.pass(10_000);
    };
    const heard = () => listEvents(database, "redis.lost");
    await look();
    await service.kill("SIGKILL");
    await look();
    await look();
    expect(await heard()).toEqual([]);
    for (let at = 0; at < 3; at += 1) await look();
    const reason = expect.stringContaining("new requests are") as string;
    expect(await heard()).toEqual([{ instance: "a", since: START_MS / 1_000 + 10, reason }]);
    await service.restart();
    await expect
      .poll(
        () =>
          ledger.check().then(
            () => "there",
            () => "away",
          ),
        { timeout: 30_000 },
      )
      .toBe("there");
    await look();
    await service.kill("SIGKILL");
    time.pass(10 * MINUTE_MS);
    for (let at = 0; at < 4; at += 1) await look();
    expect(await heard()).toHaveLength(2);
    await service.restart();
    await harness.close();
  });

  test("charges that the database does not take for minutes make one event", async () => {
    const service = await freshRedis();
    const { harness, user, token } = await openHarnesses(service, { isPair: false });
    const { database, ledger } = harness;
    const time = createTime();
    const job = backlogWatchJob({ ...time, database, backlog: () => ledger.backlog, mostWaiting: 5 });
    const holds = await Promise.all(Array.from({ length: 8 }, () => granted(ledger, user, token, 10)));
    await database.run("alter table ledger rename to ledger_away", []);
    for (const hold of holds) await ledger.settle(createSettlement(hold, 1));
    await expect.poll(() => ledger.backlog, { timeout: 30_000 }).toBeGreaterThan(5);
    for (let minute = 0; minute < 5; minute += 1) {
      await run(job);
      time.pass(MINUTE_MS);
    }
    expect(await listEvents(database, "settlement.backlog")).toEqual([]);
    for (let look = 0; look < 3; look += 1) await run(job);
    expect(await listEvents(database, "settlement.backlog")).toEqual([{ waiting: 8, since: START_MS / 1_000 }]);
    await database.run("alter table ledger_away rename to ledger", []);
    await expect.poll(() => ledger.backlog, { timeout: 60_000 }).toBe(0);
    await harness.close();
  });
});

eachDatabase("the leader and versions", (openUrl) => {
  let kit: StoreKit;
  let database: RawDatabase;

  beforeAll(async () => {
    kit = await openStoreKit(await openUrl());
    database = kit.database.raw;
  });
  afterAll(() => kit.database.close());
  beforeEach(async () => {
    for (const table of ["events", "leases"] as const) await kit.database.db.deleteFrom(table).execute();
  });

  test("a term that ends without another makes one event, whichever replica sees it", async () => {
    const time = createTime();
    const replicas = [1, 2].map(() => leaderWatchJob({ ...time, database }));
    const look = async () => {
      for (const replica of replicas) await run(replica);
      time.pass(10_000);
    };
    const heard = () => listEvents(database, "leader.missing");
    const claim = (term: number) => ({ holder: `leader-${term}`, term, expiresAt: time.elapsed() + 15_000 });
    await takeLease(database, undefined, claim(1));
    for (let at = 0; at < 10; at += 1) {
      await renewLease(database, claim(1));
      await look();
    }
    expect(await heard()).toEqual([]);
    // The leader is killed: its row is no longer renewed.
    const since = START_MS / 1_000 + time.elapsed() / 1_000;
    for (let at = 0; at < 6; at += 1) await look();
    expect(await heard()).toEqual([]);
    for (let at = 0; at < 5; at += 1) await look();
    expect(await heard()).toEqual([{ since }]);
    // Another replica leads, and ends its term in good order, and no other follows.
    await takeLease(database, await readLease(database), claim(2));
    await look();
    await freeLease(database, { holder: "leader-2", term: 2 });
    for (let at = 0; at < 8; at += 1) await look();
    expect(await heard()).toHaveLength(2);
  });

  describe("versions", () => {
    let answer = "";
    let asked = 0;
    const feed = createServer((_request, response) => {
      asked += 1;
      response.end(answer);
    });
    const outbound = createOutbound(DIRECT);

    beforeAll(() => new Promise<void>((listening) => feed.listen(0, "127.0.0.1", listening)));
    afterAll(async () => {
      await outbound.close();
      feed.closeAllConnections();
      await new Promise<void>((closed) => feed.close(() => closed()));
    });
    beforeEach(() => void (asked = 0));
    afterEach(() => void (answer = ""));

    const url = () => `http://127.0.0.1:${(feed.address() as AddressInfo).port}/latest`;
    const heard = () => listEvents(database, "version.available");

    test("a newer one makes one event, asked for once a day", async () => {
      const time = createTime();
      const job = versionCheckJob({ ...time, database, outbound, feedUrl: url, version: "1.9.3" });
      answer = JSON.stringify({ version: "1.10.0", url: "https://example.com/1.10.0" });
      for (let look = 0; look < 3; look += 1) await run(job);
      expect(asked).toBe(1);
      time.pass(1_440 * MINUTE_MS);
      await run(job);
      expect(asked).toBe(2);
      expect(await heard()).toEqual([{ version: "1.10.0", current: "1.9.3", page: "https://example.com/1.10.0" }]);
    });

    test.each([
      ["this one", { version: "1.9.3" }],
      ["an older one", { tag_name: "v1.9.2" }],
      ["a preview", { tag_name: "v2.0.0-rc.1", html_url: "https://example.com" }],
    ])("%s makes none", async (_, release) => {
      answer = JSON.stringify(release);
      await run(versionCheckJob({ ...createTime(), database, outbound, feedUrl: url, version: "1.9.3" }));
      expect([asked, await heard()]).toEqual([1, []]);
    });

    test("an answer that names none is asked for again", async () => {
      const job = versionCheckJob({ ...createTime(), database, outbound, feedUrl: url, version: "1.9.3" });
      answer = '{"version": "newest"}';
      await expect(run(job)).rejects.toThrow("UpdateFeedUrl");
      answer = '{"tag_name": "v1.9.4", "html_url": "javascript:alert(1)"}';
      await run(job);
      expect(await heard()).toEqual([{ version: "1.9.4", current: "1.9.3", page: "" }]);
    });

    test("nothing is asked while no address is set", async () => {
      const job = versionCheckJob({ ...createTime(), database, outbound, feedUrl: () => "", version: "0.0.1" });
      await run(job);
      expect([asked, await heard()]).toEqual([0, []]);
    });
  });
});
