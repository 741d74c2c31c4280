import { createDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openStoreKit, type StoreKit } from "../../../test/kit/store-kit.ts";
import { newestLogId } from "../newest-log.ts";
import { createLogWriter } from "../log-rows.ts";
import { daysBetween, dropOldest, makePartitions, readPartitions, TooManyRowsError } from "./partitions.ts";

const write = createLogWriter(false);
const DAY = 86_400;
const MONDAY = Date.parse("2026-11-23") / 1_000;

test("a log in SQLite is one table", async () => {
  const kit = await openStoreKit(await createDatabase("sqlite"));
  expect(await readPartitions(kit.database)).toEqual([]);
  expect(await makePartitions(kit.database, { ends: [MONDAY], maxMoved: 0 })).toBe(0);
  await kit.database.close();
});

describe.each(["mariadb", "postgres"] as const)("partitions of the log on %s", (kind) => {
  let kit: StoreKit;
  beforeAll(async () => {
    kit = await openStoreKit(await createDatabase(kind));
  });
  afterAll(() => kit.database.close());

  const names = async () => (await readPartitions(kit.database)).map(({ name }) => name);
  const insert = (createdAt: number, requestId: string) =>
    kit.database.raw.transaction((tx) =>
      write(tx, { user_id: 1, username: "ann", created_at: createdAt, type: 2, content: "", request_id: requestId }),
    );
  const requests = async () =>
    (await kit.database.db.selectFrom("logs").select("request_id").orderBy("id").execute()).map(
      (row) => row.request_id,
    );
  /** Returns the request ids in one partition. */
  const readRequestIds = async (name: string) => {
    const source = kind === "mariadb" ? `logs partition (${name})` : `logs_${name}`;
    const rows = await kit.database.raw.rows<{ request_id: string }>(
      `select request_id from ${source} order by id`,
      [],
    );
    return rows.map((row) => row.request_id);
  };

  test("a new log has one partition that takes everything", async () => {
    expect(await readPartitions(kit.database)).toEqual([{ name: "rest", before: Infinity }]);
    await insert(MONDAY - 400 * DAY, "old");
    await insert(MONDAY + 5, "monday");
    await insert(MONDAY + 4 * DAY, "friday");
    expect(await requests()).toEqual(["old", "monday", "friday"]);
  });

  test("days get partitions of their own, and the rows of these days move there", async () => {
    const ends = daysBetween(MONDAY, MONDAY + 2 * DAY);
    expect(await makePartitions(kit.database, { ends, maxMoved: 10 })).toBe(3);
    expect(await names()).toEqual(["p20261123", "p20261124", "p20261125", "rest"]);
    expect(await readRequestIds("p20261123")).toEqual(["old", "monday"]);
    expect(await readRequestIds("rest")).toEqual(["friday"]);
    expect(await makePartitions(kit.database, { ends, maxMoved: 10 })).toBe(0);
    await insert(MONDAY + DAY, "tuesday");
    expect(await readRequestIds("p20261124")).toEqual(["tuesday"]);
    const next = { ends: daysBetween(MONDAY + 3 * DAY, MONDAY + 4 * DAY), maxMoved: 10 };
    expect(await makePartitions(kit.database, next)).toBe(2);
    expect(await readRequestIds("p20261127")).toEqual(["friday"]);
    expect(await requests()).toEqual(["old", "monday", "friday", "tuesday"]);
  });

  test("too many rows in the way are refused with the cure", async () => {
    await insert(MONDAY + 9 * DAY, "late one");
    await insert(MONDAY + 9 * DAY, "late two");
    const ends = [MONDAY + 10 * DAY];
    const refused = makePartitions(kit.database, { ends, maxMoved: 1 });
    await expect(refused).rejects.toThrow(TooManyRowsError);
    await expect(refused).rejects.toThrow("fairway-gateway logs partition");
    expect(await requests()).toHaveLength(6);
  });

  test("a dropped day takes its rows along, and older rows still find a place", async () => {
    const newest = await newestLogId(kit.database);
    await dropOldest(kit.database);
    expect(await names()).toEqual(["p20261124", "p20261125", "p20261126", "p20261127", "rest"]);
    expect(await requests()).toEqual(["friday", "tuesday", "late one", "late two"]);
    await insert(MONDAY - DAY, "later than its day");
    expect(await readRequestIds("p20261124")).toEqual(["tuesday", "later than its day"]);
    expect(await newestLogId(kit.database)).toBe(newest + 1);
  });

  test("a reader in a long transaction delays a change by seconds, not the writers for its whole time", async () => {
    const { raw } = kit.database;
    await raw.transaction(async (tx) => {
      await tx.rows("select id from logs limit 1", []);
      await expect(dropOldest(kit.database)).rejects.toThrow(/lock/i);
      await insert(MONDAY + 2 * DAY, "meanwhile");
    });
    expect(await readRequestIds("p20261125")).toEqual(["meanwhile"]);
  });

  test("the last partition before the rest is never dropped", async () => {
    for (let left = await names(); left.length > 2; left = await names()) await dropOldest(kit.database);
    await expect(dropOldest(kit.database)).rejects.toThrow("not dropped");
  });
});
