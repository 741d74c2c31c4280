import { createDatabase } from "@fairway/testkit/databases";
import { startProxy, type Proxy } from "@fairway/testkit/proxy";
import { sql } from "kysely";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TookTooLong, withinTime } from "../../lib/async/time-limit.ts";
import { createLog } from "../../observability/log.ts";
import { openDatabase, type Database } from "../database.ts";
import { shares } from "./reserved-pool.ts";

const log = createLog({ level: "off", format: "text", out: new PassThrough() });
const BRIEF_MS = 200;
const LONG_MS = 5_000;

test("the lane is a part of the connections, and never all of them", () => {
  expect([1, 2, 5, 20, 100].map((connections) => shares(connections))).toEqual([
    { lane: 1, rest: 1 },
    { lane: 1, rest: 1 },
    { lane: 1, rest: 4 },
    { lane: 4, rest: 16 },
    { lane: 4, rest: 96 },
  ]);
});

describe.each(["mariadb", "postgres"] as const)("a limit on %s", (kind) => {
  let proxy: Proxy;
  let database: Database;
  beforeEach(async () => {
    const url = new URL(await createDatabase(kind));
    proxy = await startProxy(Number(url.port));
    url.port = String(proxy.port);
    database = openDatabase({ url: url.href, log, connections: 2 });
  });
  afterEach(async () => {
    await database.close().catch(() => undefined); // one test has closed it
    await proxy.stop();
  });

  const raw = () => database.raw.rows("select 1 as one", []);
  const built = async () => (await sql`select 1 as one`.execute(database.db)).rows;
  const sleeping = (seconds: number) =>
    database.raw.rows(kind === "mariadb" ? `select sleep(${seconds})` : `select pg_sleep(${seconds})`, []);

  test.each([
    ["the prepared statements", raw],
    ["the query builder", built],
  ] as const)("breaks off what is silent, and the next one works: %s", async (_name, ask) => {
    const one = [{ one: 1 }];
    expect(await withinTime(LONG_MS, ask)).toEqual(one);
    for (let round = 0; round < 3; round += 1) {
      proxy.isSilent = true;
      await expect(withinTime(BRIEF_MS, ask)).rejects.toThrow(TookTooLong);
      proxy.isSilent = false;
      expect(await withinTime(LONG_MS, ask)).toEqual(one);
    }
  });

  test("holds for nothing else, and does not wait for it", async () => {
    await withinTime(BRIEF_MS, raw);
    const slow = sleeping(1);
    expect(await withinTime(BRIEF_MS * 2, raw)).toEqual([{ one: 1 }]);
    await expect(slow).resolves.toHaveLength(1);
  });

  test("leaves a connection alone that has gone to another", async () => {
    await withinTime(LONG_MS, raw);
    const endless = withinTime(BRIEF_MS, async () => {
      await raw();
      await new Promise(() => {});
    });
    const other = withinTime(LONG_MS, () => sleeping(1));
    await expect(endless).rejects.toThrow(TookTooLong);
    await expect(other).resolves.toHaveLength(1);
  });

  test("statements that are never answered do not hold up the end", async () => {
    await raw();
    proxy.isSilent = true;
    raw().catch(() => undefined);
    const started = performance.now();
    await database.close();
    expect(performance.now() - started).toBeLessThan(4_000);
  });
});
