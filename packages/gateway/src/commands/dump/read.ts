import { createReadStream, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { isObject, parseObject } from "../../lib/json.ts";
import type { Database } from "../../storage/database.ts";
import { upsertSql } from "../../storage/inserts.ts";
import type { RawDatabase, SqlValue } from "../../storage/raw.ts";
import { verifyVault } from "../../storage/reseal.ts";
import { bump } from "../../storage/revisions.ts";
import { isSealed, type Vault } from "../../storage/secrets.ts";
import { ImportReport } from "../report.ts";
import { alignIds, insertMany } from "../rows.ts";
import { FORMAT, fileOf, MARKS, TABLE_NAMES, TABLES, type DumpedTable } from "./tables.ts";

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
  const manifest = parseObject(readFileSync(join(dir, "manifest.json"), "utf8"));
  if (manifest?.["format"] !== FORMAT) throw new Error(`${dir} is no export that this program can read`);
  const report = new ImportReport();
  for (const table of TABLE_NAMES) await checkTable(deps, table);
  for (const table of TABLE_NAMES) {
    for await (const rows of batches(join(dir, fileOf(table)))) {
      report.count(table, "created", { times: rows.length });
      if (!isDry) await insertRows(databaseOf(deps, table).raw, table, rows);
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

/** Nothing is written before everything fits: an empty table, and secrets that open with this installation's keys. */
async function checkTable(deps: ReadDeps, table: DumpedTable): Promise<void> {
  const [first] = await databaseOf(deps, table).raw.rows(`select 1 as one from ${table} limit 1`, []);
  if (first) throw new Error(`the table ${table} is not empty: an export is read into a new database`);
  for await (const rows of batches(join(deps.dir, fileOf(table)))) {
    for (const row of rows) {
      const sealed = Object.values(row).find((value) => typeof value === "string" && isSealed(value));
      if (typeof sealed !== "string") continue;
      deps.vault.open(sealed);
      return;
    }
  }
}

async function insertRows(raw: RawDatabase, table: string, rows: readonly Row[]): Promise<void> {
  await raw.transaction((tx) => insertMany(tx, table, rows));
}

async function* batches(path: string): AsyncGenerator<Row[]> {
  let rows: Row[] = [];
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    if (line === "") continue;
    rows.push(JSON.parse(line) as Row);
    if (rows.length < BATCH) continue;
    yield rows;
    rows = [];
  }
  if (rows.length > 0) yield rows;
}

function databaseOf({ database, logDatabase }: ReadDeps, table: DumpedTable): Database {
  return table === "logs" ? logDatabase : database;
}

function hasId(table: DumpedTable): boolean {
  const key: readonly string[] = TABLES[table];
  return key[0] === "id";
}
