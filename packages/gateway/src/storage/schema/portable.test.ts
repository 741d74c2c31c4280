import { eachDatabase } from "@fairway/testkit/databases";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLog } from "../../observability/log.ts";
import { openDatabase, type Database } from "../database.ts";
import { insertRow, upsertSql } from "../inserts.ts";
import { beginningWith, containing, like, likeAnyCase, withWildcards } from "../like.ts";
import { migrate } from "./migrate.ts";
import { bump, readRevisions } from "../revisions.ts";
import { rawOn, transact } from "../transaction.ts";

const log = createLog({ level: "off", format: "text", out: new PassThrough() });

eachDatabase("portable statements", (open) => {
  let database: Database;
  beforeAll(async () => {
    database = openDatabase({ url: await open(), log });
    await migrate(database, { log, mode: "auto" });
  });
  afterAll(() => database.close());

  const code = (name: string, key: string) => ({
    user_id: 1,
    key,
    status: 1,
    name,
    quota: 5,
    created_time: 7,
    deleted_at: null,
  });

  test("insertRow answers rising ids", async () => {
    const first = await insertRow(database.db, "redemptions", code("one", "a"));
    const next = await insertRow(database.db, "redemptions", code("two", "b"));
    expect(next).toBe(first + 1);
    const row = await database.db
      .selectFrom("redemptions")
      .select(["name", "used_user_id"])
      .where("id", "=", next)
      .executeTakeFirst();
    expect(row).toEqual({ name: "two", used_user_id: 0 });
  });

  test("a deleted id is not given again", async () => {
    const last = await insertRow(database.db, "redemptions", code("gone", "c"));
    await database.db.deleteFrom("redemptions").where("id", "=", last).execute();
    expect(await insertRow(database.db, "redemptions", code("next", "d"))).toBe(last + 1);
  });

  test("keys that differ in case or accent are different keys", async () => {
    await insertRow(database.db, "redemptions", code("lower", "é"));
    await insertRow(database.db, "redemptions", code("upper", "É"));
    await insertRow(database.db, "redemptions", code("plain", "e"));
    const rows = await database.raw.rows('select name from redemptions where "key" = ?', ["é"]);
    expect(rows).toEqual([{ name: "lower" }]);
  });

  test("upsertSql keeps, adds and replaces, many rows at a time", async () => {
    const columns = ["user_id", "username", "model_name", "created_at", "token_used", "count", "quota"];
    const key = ["user_id", "username", "model_name", "created_at"];
    const row = (model: string, count: number) => [1, "ann", model, 3_600, 10, count, 100];
    const keep = upsertSql(database.kind, { table: "quota_data", columns, key }, 2);
    expect(await database.raw.run(keep, [...row("a", 1), ...row("b", 1)])).toBe(2);
    expect(await database.raw.run(keep, [...row("b", 5), ...row("c", 1)])).toBe(1);
    const change = upsertSql(database.kind, {
      table: "quota_data",
      columns,
      key,
      add: ["token_used", "count"],
      replace: ["quota"],
    });
    await database.raw.run(change, [1, "ann", "a", 3_600, 7, 2, 42]);
    const rows = await database.raw.rows(
      "select model_name, token_used, count, quota from quota_data order by model_name",
      [],
    );
    expect(rows).toEqual([
      { model_name: "a", token_used: 17, count: 3, quota: 42 },
      { model_name: "b", token_used: 10, count: 1, quota: 100 },
      { model_name: "c", token_used: 10, count: 1, quota: 100 },
    ]);
  });

  test("revisions count up with the transaction that bumps them", async () => {
    expect(await readRevisions(database)).toEqual({ options: 0, channels: 0, tokens: 0, users: 0 });
    await database.raw.transaction((tx) => bump(tx, database.kind, "channels"));
    await transact(database.db, (trx) => bump(rawOn(trx, database.kind), database.kind, "channels"));
    const failed = database.raw.transaction(async (tx) => {
      await bump(tx, database.kind, "options");
      throw new Error("no");
    });
    await expect(failed).rejects.toThrow("no");
    expect(await readRevisions(database)).toEqual({ options: 0, channels: 2, tokens: 0, users: 0 });
  });

  test("searches take wildcards only where they are meant", async () => {
    for (const name of ["100%_sure!", "100 unsure", "Gpt-4o", "gpt-4o-mini"])
      await insertRow(database.db, "jobs", {
        name,
        status: "",
        progress: "",
        started_by: 0,
        created_at: 0,
        updated_at: 0,
      });
    const found = async (condition: ReturnType<typeof like>) =>
      (await database.db.selectFrom("jobs").select("name").where(condition).orderBy("id").execute()).map(
        (row) => row.name,
      );
    expect(await found(like("name", containing("%_sure!")))).toEqual(["100%_sure!"]);
    expect(await found(like("name", beginningWith("gpt")))).toEqual(["gpt-4o-mini"]);
    expect(await found(likeAnyCase("name", beginningWith("GPT")))).toEqual(["Gpt-4o", "gpt-4o-mini"]);
    expect(await found(like("name", withWildcards("%4o%")))).toEqual(["Gpt-4o", "gpt-4o-mini"]);
    expect(await found(like("name", withWildcards("100%_sure!")))).toEqual(["100%_sure!"]);
  });
});
