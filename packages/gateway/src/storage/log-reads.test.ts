import { freePort } from "@fairway/testkit/services";
import { afterAll, describe, expect, test } from "vitest";
import { quietLog } from "../../test/kit/support.ts";
import { toFailure } from "../http/errors.ts";
import { openClickhouse } from "./clickhouse/open.ts";
import { openDatabase } from "./database.ts";
import type { LogDatabase } from "./log-database.ts";
import { guardReads, LogUnreachable } from "./log-reads.ts";

/** Addresses without a server. */
const AWAY: Readonly<Record<string, (port: number) => Promise<LogDatabase>>> = {
  ClickHouse: (port) => openClickhouse({ url: `clickhouse://127.0.0.1:${port}/default`, connections: 2 }),
  MariaDB: async (port) => openDatabase({ url: `mysql://fairway:fairway@127.0.0.1:${port}/logs`, log: quietLog }),
  PostgreSQL: async (port) => openDatabase({ url: `postgres://fairway:fairway@127.0.0.1:${port}/logs`, log: quietLog }),
};

describe.each(Object.keys(AWAY))("readers of a log in %s that is away", (name) => {
  const opened: LogDatabase[] = [];
  afterAll(() => Promise.all(opened.map((logs) => logs.close())));

  const open = async () => {
    const logs = await (AWAY[name] ?? expect.unreachable(name))(await freePort());
    opened.push(logs);
    return guardReads(logs);
  };

  test("get one error from each way of reading it", async () => {
    const { db, raw } = await open();
    await expect(db.selectFrom("logs").selectAll().execute()).rejects.toThrow(LogUnreachable);
    await expect(db.deleteFrom("logs").where("id", "=", 1).execute()).rejects.toThrow(LogUnreachable);
    await expect(raw.rows("select id from logs where id = ?", [1])).rejects.toThrow(LogUnreachable);
    await expect(raw.run("delete from logs where id = ?", [1])).rejects.toThrow(LogUnreachable);
  });

  test("are refused with a time to try again, which is not a defect of the gateway", async () => {
    const { db } = await open();
    const error: unknown = await db
      .selectFrom("logs")
      .selectAll()
      .execute()
      .catch((reason: unknown) => reason);
    expect(toFailure(error, undefined, "R1")).toMatchObject({
      status: 503,
      body: { success: false, code: "H4" },
      retryAfterSeconds: 5,
      isFault: true,
    });
  });
});

test("a wrong statement is a defect, not an outage", async () => {
  const logs = openDatabase({ url: "sqlite::memory:", log: quietLog });
  const error: unknown = await guardReads(logs)
    .db.selectFrom("logs")
    .selectAll()
    .execute()
    .catch((reason: unknown) => reason);
  expect(error).not.toBeInstanceOf(LogUnreachable);
  expect(toFailure(error, undefined, "R1")).toMatchObject({ status: 500, body: { code: "G4" } });
  await logs.close();
});

test("rows are read through the guard as they are", async () => {
  const logs = openDatabase({ url: "sqlite::memory:", log: quietLog });
  await logs.raw.run("create table logs (id integer primary key, content text)", []);
  const { db, raw } = guardReads(logs);
  await raw.run("insert into logs (id, content) values (?, ?)", [7, "tide"]);
  expect(await db.selectFrom("logs").select(["id", "content"]).where("id", "=", 7).execute()).toEqual([
    { id: 7, content: "tide" },
  ]);
  const { numDeletedRows } = await db.deleteFrom("logs").where("id", "=", 7).executeTakeFirstOrThrow();
  expect(Number(numDeletedRows)).toBe(1);
  await logs.close();
});
