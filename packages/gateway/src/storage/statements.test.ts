import { eachDatabase } from "@fairway/testkit/databases";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLog } from "../observability/log.ts";
import { openDatabase, type Database } from "./database.ts";
import { migrate } from "./schema/migrate.ts";
import type { SqlValue } from "./engines/raw.ts";
import { InsertColumns, insertRows } from "./statements.ts";

const log = createLog({ level: "off", format: "text", out: new PassThrough() });
const LEDGER = new InsertColumns("ledger", [
  "request_id",
  "kind",
  "user_id",
  "token_id",
  "channel_id",
  "quota",
  "detail",
  "created_at",
]);
const ODD = [
  "it's",
  "\\",
  "\\'; drop table ledger; -- ",
  "''",
  '"quoted"',
  "?",
  "`",
  "%_",
  "line\nbreak\r\ttab",
  "\u001a",
  "é你好👍",
  "",
  " ends with a space ",
];

eachDatabase("rows of one insert", (open) => {
  let database: Database;
  beforeAll(async () => {
    database = openDatabase({ url: await open(), log });
    await migrate(database, { log, mode: "auto" });
  });
  afterAll(() => database.close());

  const row = (id: string, detail: string, quota = -5): SqlValue[] => [
    id,
    "consume",
    1,
    2,
    3,
    quota,
    detail,
    1_780_000_000_123,
  ];

  test.each([1, 2, 33, 700])("%d of them come back as they were given", async (count) => {
    const details = Array.from({ length: count }, (_, at) => `${count}:${ODD[at % ODD.length] ?? ""}`);
    const rows = details.map((detail, at) => row(`${count}-${at}`, detail, at - Number.MAX_SAFE_INTEGER));
    await database.raw.transaction((tx) => insertRows(tx, database.raw.kind, LEDGER, rows));
    const found = await database.raw.rows<{ detail: string; quota: number; created_at: number }>(
      "select detail, quota, created_at from ledger where detail like ? order by id",
      [`${count}:%`],
    );
    expect(found).toEqual(rows.map(([, , , , , quota, detail, created_at]) => ({ detail, quota, created_at })));
  });

  test("what is longer than a statement goes into several", async () => {
    const details = Array.from({ length: 300 }, (_, at) => `long ${at} ${"x\\'".repeat(800)}`);
    const outbox = new InsertColumns("log_outbox", ["request_id", "row"]);
    await database.raw.transaction((tx) =>
      insertRows(
        tx,
        database.raw.kind,
        outbox,
        details.map((detail, at) => [`long-${at}`, detail]),
      ),
    );
    const found = await database.raw.rows<{ row: string }>('select "row" from log_outbox order by id', []);
    expect(found.map((one) => one.row)).toEqual(details);
  });

  test("one that is refused takes the others with it", async () => {
    const rows = [row("twice", "same"), row("twice", "same")];
    await expect(database.raw.transaction((tx) => insertRows(tx, database.raw.kind, LEDGER, rows))).rejects.toThrow();
    expect(await database.raw.rows("select 1 as one from ledger where request_id = ?", ["twice"])).toEqual([]);
  });
});
