import { createReadStream, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { isObject, parseObject } from "../../lib/text/json.ts";
import { UsageError } from "../arguments.ts";
import type { Database } from "../../storage/database.ts";
import { hasColumn } from "../../storage/schema/introspect.ts";
import { upsertSql } from "../../storage/inserts.ts";
import type { RawDatabase, SqlValue } from "../../storage/engines/raw.ts";
import { sealedIn, verifyVault } from "../../storage/secrets/reseal.ts";
import { bump } from "../../storage/revisions.ts";
import type { Vault } from "../../storage/secrets/secrets.ts";
import { ImportReport } from "../../resources/import/report.ts";
import { alignIds, insertMany } from "../../resources/import/databases/rows.ts";
import { FORMAT, buildFileName, MARKS, TABLE_NAMES, TABLES, type DumpedTable } from "./tables.ts";

export interface ReadDeps {
  readonly database: Database;
  readonly logDatabase: Database;
  readonly vault: Vault;
  readonly dir: string;
  readonly isDry: boolean;
}

const BATCH = 200;
const MARK = { table: "revisions", columns: ["topic", "revision"], key: ["topic"], replace: ["revision"] } as const;

type Row = Readonly<Record<string, SqlValue>>;

/** Fills an empty database from the files of an export. */
export async function readDump(deps: ReadDeps): Promise<ImportReport> {
  const { dir, isDry, database } = deps;
  const manifest = readManifest(dir);
  const counts = isObject(manifest["tables"]) ? manifest["tables"] : {};
  const unknown = Object.keys(counts).filter((table) => !(TABLE_NAMES as readonly string[]).includes(table));
  if (unknown.length > 0)
    throw new UsageError(
      `${dir} was written by a newer version, which also has ${unknown.join(", ")}: read it with that`,
    );
  const report = new ImportReport();
  // An older export has no file for a table that was added later.
  const tables = TABLE_NAMES.filter((table) => Object.hasOwn(counts, table));
  for (const table of TABLE_NAMES) await checkEmpty(deps, table);
  for (const table of tables) await checkTable(deps, table, counts[table]);
  for (const table of tables) {
    for await (const rows of batches(join(dir, buildFileName(table)))) {
      report.count(table, "created", { times: rows.length });
      if (!isDry) await insertRows(selectDatabase(deps, table).raw, table, rows);
    }
  }
  if (isDry) return report;
  await alignIds(
    database,
    TABLE_NAMES.filter((table) => hasId(table) && table !== "logs"),
  );
  await alignIds(deps.logDatabase, ["logs"]);
  await verifyVault(database, deps.vault);
  const marks = isObject(manifest["marks"]) ? manifest["marks"] : {};
  await database.raw.transaction(async (tx) => {
    for (const topic of MARKS) {
      const revision = marks[topic];
      if (typeof revision === "number") await tx.run(upsertSql(database.kind, MARK), [topic, revision]);
    }
    for (const topic of ["users", "tokens", "channels", "options"] as const) await bump(tx, database.kind, topic);
  });
  return report;
}

function readManifest(dir: string): Readonly<Record<string, unknown>> {
  const path = join(dir, "manifest.json");
  const manifest = existsSync(path) ? parseObject(readFileSync(path, "utf8")) : undefined;
  if (manifest?.["format"] === FORMAT) return manifest;
  throw new UsageError(
    `${dir} is no export that this program can read: its manifest.json is missing or of another form`,
  );
}

async function checkEmpty(deps: ReadDeps, table: DumpedTable): Promise<void> {
  const [first] = await selectDatabase(deps, table).raw.rows(`select 1 as one from ${table} limit 1`, []);
  if (first) throw new UsageError(`the table ${table} is not empty: an export is read into a new database`);
}

/**
 * Checks everything before anything is written: whole files, known columns, and secrets that the given keys can open.
 */
async function checkTable(deps: ReadDeps, table: DumpedTable, expected: unknown): Promise<void> {
  const path = join(deps.dir, buildFileName(table));
  if (!existsSync(path)) throw new UsageError(`${path} is missing: copy the whole export`);
  let count = 0;
  let found: ReturnType<typeof sealedIn>;
  let names: string | undefined;
  for await (const rows of batches(path)) {
    count += rows.length;
    for (const row of rows) {
      found ??= sealedIn(table, row);
      const own = Object.keys(row).join();
      if (own !== (names ??= own)) throw new UsageError(`${path} has rows with different columns: it was changed`);
    }
  }
  if (count !== expected)
    throw new UsageError(`${path} has ${count} rows instead of ${String(expected)}: it was cut off or changed`);
  if (found) deps.vault.open(found.sealed, found.location);
  if (names !== undefined) await checkColumns(selectDatabase(deps, table), table, names.split(","), path);
}

async function checkColumns(
  database: Database,
  table: DumpedTable,
  names: readonly string[],
  path: string,
): Promise<void> {
  for (const name of names) {
    if (await hasColumn(database.db, database.kind, table, name)) continue;
    throw new UsageError(
      `${path} has a column ${name} that this version does not know: read it with the one that wrote it`,
    );
  }
}

async function insertRows(raw: RawDatabase, table: string, rows: readonly Row[]): Promise<void> {
  await raw.transaction((tx) => insertMany(tx, table, rows));
}

async function* batches(path: string): AsyncGenerator<Row[]> {
  let rows: Row[] = [];
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    if (line === "") continue;
    rows.push(parseRow(line, path));
    if (rows.length < BATCH) continue;
    yield rows;
    rows = [];
  }
  if (rows.length > 0) yield rows;
}

function parseRow(line: string, path: string): Row {
  const row = parseObject(line);
  if (row) return row as Row;
  throw new UsageError(`${path} holds a line that is no row: it was cut off or changed`);
}

function selectDatabase({ database, logDatabase }: ReadDeps, table: DumpedTable): Database {
  return table === "logs" ? logDatabase : database;
}

function hasId(table: DumpedTable): boolean {
  const key: readonly string[] = TABLES[table];
  // Ids that a key shares with another column are not made by the database.
  return key[0] === "id" && key.length === 1;
}
