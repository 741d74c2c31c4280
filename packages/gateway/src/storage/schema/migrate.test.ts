import { createDatabase, eachDatabase } from "@fairway/testkit/databases";
import { readdirSync, readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLog } from "../../observability/log.ts";
import { openDatabase, type Database } from "../database.ts";
import { isFull } from "../errors.ts";
import { hasTable } from "../engines/introspect.ts";
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

/** Tables and columns as the files of the schema declare them. */
function declared(): Map<string, string[]> {
  const source = readdirSync(import.meta.dirname)
    .filter((file) => /^schema(?:-\w+)?\.ts$/.test(file))
    .map((file) => readFileSync(new URL(file, import.meta.url), "utf8"))
    .join("\n");
  const bodies = new Map(
    [...source.matchAll(/export interface (\w+) \{\n([\s\S]*?)\n\}/g)].map(
      (match) => [match[1], match[2] ?? ""] as const,
    ),
  );
  const members = (body: string) =>
    [...body.matchAll(/^ {2}(\w+): (\w+)/gm)].map((match) => [match[1] ?? "", match[2] ?? ""] as const);
  return new Map(
    members(bodies.get("Schema") ?? "").map(([table, type]) => [
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
