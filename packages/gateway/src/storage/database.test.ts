import { eachDatabase } from "@fairway/testkit/databases";
import { sql } from "kysely";
import { statSync } from "node:fs";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createLog } from "../observability/log.ts";
import { openDatabase, type Database } from "./database.ts";
import { isDuplicate } from "./errors.ts";
import { poolOptions } from "./engines/mysql.ts";
import { rawOn, transact } from "./transaction.ts";

const log = createLog({ level: "off", format: "text", out: new PassThrough() });

eachDatabase("a database", (open) => {
  let database: Database;
  let second: Database;

  beforeAll(async () => {
    const url = await open();
    database = openDatabase({ url, log });
    second = openDatabase({ url, log });
    await database.raw.run(
      'create table accounts (id bigint primary key, "group" varchar(64) not null, quota bigint not null)',
      [],
    );
  });
  beforeEach(async () => {
    await database.raw.run("delete from accounts", []);
    await database.raw.run("insert into accounts values (?, ?, ?), (?, ?, ?)", [
      1,
      "default",
      100,
      2,
      "vip",
      9_007_199_254_740_991,
    ]);
  });
  afterAll(async () => {
    await second.close();
    await database.close();
  });

  const readQuota = async (id: number) =>
    (await database.raw.rows<{ quota: number }>("select quota from accounts where id = ?", [id]))[0]?.quota;

  test("lets go of what a stopped process had locked", async () => {
    const settings = {
      mysql: "select @@idle_transaction_timeout as s",
      postgres: "show idle_in_transaction_session_timeout",
    };
    if (database.kind === "sqlite") return;
    const [row] = await database.raw.rows<Record<string, unknown>>(settings[database.kind], []);
    expect(Object.values(row ?? {}).map(String)).toEqual([database.kind === "mysql" ? "60" : "1min"]);
  });

  test("answers a ping", async () => {
    await expect(database.ping()).resolves.toBeUndefined();
  });

  test("reads integers up to 2^53 - 1 exactly, also through sum and count", async () => {
    expect(await readQuota(2)).toBe(9_007_199_254_740_991);
    const [sums] = await database.raw.rows<{ total: number; number: number }>(
      "select sum(quota) as total, count(*) as number from accounts where id = ?",
      [1],
    );
    expect(sums).toEqual({ total: 100, number: 1 });
  });

  test("writes integers beyond 2^31 and bigints exactly", async () => {
    await database.raw.run("update accounts set quota = quota - ? where id = ?", [9_007_199_254_740_990n, 2]);
    expect(await readQuota(2)).toBe(1);
    await database.raw.run("update accounts set quota = ? where id = ?", [4_503_599_627_370_497, 2]);
    expect(await readQuota(2)).toBe(4_503_599_627_370_497);
  });

  test("counts the rows that a statement found, also when it changes nothing", async () => {
    expect(await database.raw.run("update accounts set quota = ? where id = ?", [100, 1])).toBe(1);
    expect(
      await database.raw.run("update accounts set quota = quota - ? where id = ? and quota >= ?", [101, 1, 101]),
    ).toBe(0);
    expect(await database.raw.run("delete from accounts where id > ?", [0])).toBe(2);
  });

  test("takes reserved words in double quotes and a limit as a value", async () => {
    const rows = await database.raw.rows('select "group" from accounts where "group" <> ? order by id limit ?', [
      "it's",
      1,
    ]);
    expect(rows).toEqual([{ group: "default" }]);
  });

  test("rolls a failed transaction back and passes the error on", async () => {
    const work = database.raw.transaction(async (tx) => {
      await tx.run("update accounts set quota = 0 where id = ?", [1]);
      throw new Error("no");
    });
    await expect(work).rejects.toThrow("no");
    expect(await readQuota(1)).toBe(100);
  });

  test("keeps statements of others out of a transaction", async () => {
    const sql = "update accounts set quota = quota - 60 where id = ? and quota >= 60";
    const inside = database.raw.transaction(async (tx) => {
      const count = await tx.run(sql, [1]);
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(await tx.rows("select quota from accounts where id = ?", [1])).toEqual([{ quota: 40 }]);
      return count;
    });
    const outside = database.raw.run(sql, [1]);
    // The server decides which of the two is first; if both succeeded, it would be an overdraft.
    expect(new Set(await Promise.all([inside, outside]))).toEqual(new Set([0, 1]));
    expect(await readQuota(1)).toBe(40);
  });

  test("survives crossing transactions of two connections", async () => {
    const move = (on: Database, from: number, to: number) =>
      on.raw.transaction(async (tx) => {
        await tx.run("update accounts set quota = quota - 1 where id = ?", [from]);
        await new Promise((resolve) => setTimeout(resolve, 5));
        await tx.run("update accounts set quota = quota + 1 where id = ?", [to]);
      });
    await database.raw.run("update accounts set quota = 100", []);
    for (let round = 0; round < 2; round += 1) await Promise.all([move(database, 1, 2), move(second, 2, 1)]);
    expect([await readQuota(1), await readQuota(2)]).toEqual([100, 100]);
  });

  test("survives a server that ends the connection of a running transaction", async () => {
    const sql = {
      mysql: "kill connection_id()",
      postgres: "select pg_terminate_backend(pg_backend_pid())",
      sqlite: "",
    };
    const end = sql[database.kind];
    if (end === "") return expect(database.kind).toBe("sqlite");
    await expect(database.raw.transaction((tx) => tx.rows(end, []))).rejects.toThrow();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await readQuota(1)).toBe(100);
  });

  test("recognises a row that exists already", async () => {
    const error = await database.raw
      .run("insert into accounts values (1, 'x', 0)", [])
      .catch((reason: unknown) => reason);
    expect(isDuplicate(error)).toBe(true);
    expect(isDuplicate(new Error("other"))).toBe(false);
  });

  test("gives the query builder the same numbers", async () => {
    const { rows } = await sql<{
      total: number;
      number: number;
    }>`select sum(quota) as total, count(*) as number from accounts where id = ${1}`.execute(database.db);
    expect(rows).toEqual([{ total: 100, number: 1 }]);
  });

  test("lets raw statements join a query builder's transaction", async () => {
    const work = transact(database.db, async (trx) => {
      const raw = rawOn(trx, database.kind);
      expect(await raw.run("update accounts set quota = ? where id = ?", [1, 1])).toBe(1);
      expect(await raw.rows("select quota from accounts where id = ?", [1])).toEqual([{ quota: 1 }]);
      throw new Error("no");
    });
    await expect(work).rejects.toThrow("no");
    expect(await readQuota(1)).toBe(100);
  });
});

describe("SQLite", () => {
  test("refuses integers that a number cannot hold", async () => {
    const database = openDatabase({ url: "sqlite::memory:", log });
    await expect(database.raw.rows("select 9007199254740993 as big", [])).rejects.toThrow();
    await database.close();
  });

  test("an uncontended statement costs at most two microtasks", async () => {
    const database = openDatabase({ url: "sqlite::memory:", log });
    let done = false;
    void database.raw.rows("select 1 as one", []).then(() => (done = true));
    await Promise.resolve();
    await Promise.resolve();
    expect(done).toBe(true);
    await database.close();
  });

  test("passes on the error of a statement that rolled everything back by itself", async () => {
    const database = openDatabase({ url: "sqlite::memory:", log });
    await database.raw.run("create table t (id integer)", []);
    await database.raw.run("create trigger no before insert on t begin select raise(rollback, 'not today'); end", []);
    const insert = database.raw.transaction((tx) => tx.run("insert into t values (?)", [1]));
    await expect(insert).rejects.toThrow("not today");
    const built = transact(database.db, (trx) => rawOn(trx, "sqlite").run("insert into t values (?)", [1]));
    await expect(built).rejects.toThrow("not today");
    await expect(database.ping()).resolves.toBeUndefined();
    await database.close();
  });

  test("keeps the file from other accounts", async ({ onTestFinished }) => {
    const { mkdtempSync, rmSync } = await import("node:fs");
    const folder = mkdtempSync("/tmp/fairway-mode-");
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const database = openDatabase({ url: `sqlite:${folder}/new/fairway.db`, log });
    await database.raw.run("create table t (id integer)", []);
    expect(statSync(`${folder}/new/fairway.db`).mode & 0o777).toBe(0o600);
    expect(statSync(`${folder}/new/fairway.db-wal`).mode & 0o777).toBe(0o600);
    await database.close();
  });
});

describe("database URLs", () => {
  test("with an unknown scheme are refused, and the error names the supported ones", () => {
    expect(() => openDatabase({ url: "oracle://x", log })).toThrow(
      "begins with sqlite:, mysql:// or postgres://, not with oracle:",
    );
  });

  test("of MySQL carry encoded names and TLS modes", () => {
    const options = poolOptions("mysql://fair%40way:p%3Aw@[::1]:3307/my%2Ddb?ssl-mode=VERIFY_IDENTITY", 7);
    expect(options).toMatchObject({
      host: "::1",
      port: 3307,
      user: "fair@way",
      password: "p:w",
      database: "my-db",
      connectionLimit: 7,
      ssl: { verifyIdentity: true },
    });
    expect(poolOptions("mysql://a@b/c", 1).ssl).toBeUndefined();
    expect(poolOptions("mysql://a@b/c?ssl-mode=required", 1).ssl).toEqual({ rejectUnauthorized: false });
    expect(poolOptions("mysql://a@b/c?ssl-ca=/dev/null", 1).ssl).toMatchObject({ verifyIdentity: false });
    expect(() => poolOptions("mysql://a@b/c?ssl-mode=maybe", 1)).toThrow("ssl-mode=maybe is not known");
  });
});
