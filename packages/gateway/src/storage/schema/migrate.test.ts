import { createDatabase, eachDatabase } from "@fairway/testkit/databases";
import { readdirSync, readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLog } from "../../observability/log.ts";
import { openDatabase, type Database } from "../database.ts";
import { isFull } from "../errors.ts";
import { hasTable } from "./introspect.ts";
import { migrate, migrateLogs, migrateTracks, type Track } from "./migrate.ts";
import { withMigrationLock } from "./migration-lock.ts";
import { SchemaError, type Migration } from "./migration.ts";
import { MIGRATIONS } from "./migrations/index.ts";

const log = createLog({ level: "off", format: "text", out: new PassThrough() });
const auto = { log, mode: "auto" } as const;

const notes = (...migrations: Migration[]): Track => ({ table: "note_versions", migrations });
const createNotes: Migration = {
  version: 1,
  name: "notes",
  steps: [(on) => on.run("create table if not exists notes (id bigint primary key)")],
};
const addTitle: Migration = {
  version: 2,
  name: "title",
  steps: [
    async (on) => {
      if (!(await on.hasColumn("notes", "title"))) await on.run("alter table notes add column title varchar(64)");
    },
    async (on) => {
      if (!(await on.hasIndex("notes", "notes_title"))) await on.run("create index notes_title on notes (title)");
    },
  ],
};

test("migrations count up without a gap, in the order of their files", () => {
  expect(MIGRATIONS.map(({ version }) => version)).toEqual(MIGRATIONS.map((_, at) => at + 1));
  const files = readdirSync(new URL("migrations/", import.meta.url)).filter((file) => /^\d{4}-.*\.ts$/.test(file));
  expect(files.map((file) => Number(file.slice(0, 4)))).toEqual(MIGRATIONS.map(({ version }) => version));
});

/** Returns the tables and columns that the schema files declare. */
function declared(): Map<string, string[]> {
  const folder = new URL("../tables/", import.meta.url);
  const source = readdirSync(folder)
    .filter((file) => /^schema(?:-\w+)?\.ts$/.test(file))
    .map((file) => readFileSync(new URL(file, folder), "utf8"))
    .join("\n");
  const bodies = new Map(
    [...source.matchAll(/export interface (\w+)(?: extends \w+)? \{\n([\s\S]*?)\n\}/g)].map(
      (match) => [match[1], match[2] ?? ""] as const,
    ),
  );
  const members = (body: string) =>
    [...body.matchAll(/^ {2}(\w+): (\w+)/gm)].map((match) => [match[1] ?? "", match[2] ?? ""] as const);
  return new Map(
    members(`${bodies.get("Schema")}\n${bodies.get("TeamTables")}`).map(([table, type]) => [
      table,
      members(bodies.get(type) ?? "").map(([name]) => name),
    ]),
  );
}

eachDatabase("migrations", (open) => {
  let url: string;
  let database: Database;
  let second: Database;

  beforeEach(async () => {
    url = await open();
    database = openDatabase({ url, log });
    second = openDatabase({ url, log });
  });
  afterEach(async () => {
    await second.close();
    await database.close();
  });

  test("make every table and column of the schema", async () => {
    await migrate(database, auto);
    const tables = declared();
    expect(tables.size).toBeGreaterThan(30);
    for (const [table, columns] of tables) {
      expect(columns, table).not.toEqual([]);
      const list = columns.map((column) => `"${column}"`).join(", ");
      await expect(database.raw.rows(`select ${list} from ${table}`, [])).resolves.toEqual([]);
    }
  });

  test("run again without effect, and from two processes at once", async () => {
    await Promise.all([migrate(database, auto), migrate(second, auto)]);
    await migrate(database, auto);
    const versions = await database.raw.rows("select version, name from schema_versions order by version", []);
    expect(versions).toHaveLength(MIGRATIONS.length);
    expect(versions[0]).toEqual({ version: 1, name: "accounts" });
  });

  test("of the log database make nothing else", async () => {
    await migrateLogs(database, auto);
    expect(await hasTable(database.db, database.kind, "logs")).toBe(true);
    expect(await hasTable(database.db, database.kind, "users")).toBe(false);
  });

  test("leave a database of another program alone", async () => {
    await database.raw.run("create table users (id bigint primary key)", []);
    await expect(migrate(database, auto)).rejects.toThrow("tables of another program");
    expect(await hasTable(database.db, database.kind, "tokens")).toBe(false);
  });

  test("leave one alone that has no users, and one that has logs of its own", async () => {
    await database.raw.run("create table options (id bigint primary key)", []);
    await expect(migrate(database, auto)).rejects.toThrow("another program, such as options");
    expect(await hasTable(database.db, database.kind, "users")).toBe(false);
    await database.raw.run("create table logs (id bigint primary key)", []);
    await expect(migrateLogs(database, auto)).rejects.toThrow(
      "such as logs: name an empty database in FAIRWAY_LOG_DATABASE_URL",
    );
  });

  test("take up again after a crash between two steps", async () => {
    const crash: Migration = {
      ...addTitle,
      steps: [...addTitle.steps.slice(0, 1), () => Promise.reject(new Error("killed"))],
    };
    await expect(migrateTracks(database, [notes(createNotes, crash)], auto)).rejects.toThrow("killed");
    await migrateTracks(second, [notes(createNotes, addTitle)], auto);
    await expect(second.raw.rows("select id, title from notes", [])).resolves.toEqual([]);
  });

  test("refuse a schema that a newer program made unusable, and name that program", async () => {
    const removal: Migration = { ...addTitle, isBreaking: true };
    await migrateTracks(database, [notes(createNotes, removal)], { ...auto, product: "2.0.0" });
    const older = migrateTracks(second, [notes(createNotes)], { ...auto, product: "1.0.0" });
    await expect(older).rejects.toThrow(SchemaError);
    await expect(older).rejects.toThrow("start version 2.0.0 or newer");
  });

  test("accept a schema that a newer program only extended", async () => {
    await migrateTracks(database, [notes(createNotes, addTitle)], auto);
    await expect(migrateTracks(second, [notes(createNotes)], auto)).resolves.toBeUndefined();
  });

  test("are only checked in the mode verify, and waited for in the mode wait", async () => {
    const track = [notes(createNotes)];
    await expect(migrateTracks(database, track, { log, mode: "verify" })).rejects.toThrow(
      "has not had the change note_versions 1 notes",
    );
    const waiting = migrateTracks(database, track, { log, mode: "wait" });
    await migrateTracks(second, track, auto);
    await waiting;
    await expect(migrateTracks(database, track, { log, mode: "verify" })).resolves.toBeUndefined();
  });

  test("give up when the lock stays taken", async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    let isTaken = () => {};
    const taken = new Promise<void>((resolve) => (isTaken = resolve));
    const holder = withMigrationLock(database, 1_000, async () => {
      isTaken();
      await held;
    });
    await taken;
    await expect(withMigrationLock(second, 100, async () => {})).rejects.toThrow(
      "another process has been changing the database schema",
    );
    release();
    await holder;
  });
});

test("a schema change that finds no room reports that, not its consequence", async () => {
  const database = openDatabase({ url: await createDatabase("sqlite"), log });
  const noMore: Migration = { version: 1, name: "no more", steps: [(on) => on.run("pragma max_page_count = 1")] };
  const error: unknown = await migrateTracks(database, [notes(noMore, { ...createNotes, version: 2 })], auto).catch(
    (cause: unknown) => cause,
  );
  expect(isFull(error), String(error)).toBe(true);
  await database.close();
});
