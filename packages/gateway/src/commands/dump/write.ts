import { mkdirSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { seconds, type Clock } from "../../lib/clock.ts";
import type { Database } from "../../storage/database.ts";
import type { LogDatabase } from "../../storage/log-database.ts";
import type { RawDatabase, RawTransaction, SqlValue } from "../../storage/engines/raw.ts";
import { FORMAT, buildFileName, MARKS, TABLE_NAMES, TABLES, type DumpedTable, type Manifest } from "./tables.ts";

export interface DumpDeps {
  readonly database: Database;
  readonly logDatabase: Pick<LogDatabase, "raw">;
  readonly clock: Clock;
  /** Created if it does not exist; readable only by its owner. */
  readonly dir: string;
}

const PAGE = 1000;

type Row = Readonly<Record<string, SqlValue>>;

/** Writes one file of JSON lines per table and a list of them; returns the number of rows of each. */
export async function writeDump({ database, logDatabase, clock, dir }: DumpDeps): Promise<Record<string, number>> {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  // An old manifest would vouch for files that are only half written.
  rmSync(join(dir, "manifest.json"), { force: true });
  const counts: Partial<Record<DumpedTable, number>> = {};
  let marks: Record<string, number> = {};
  // All tables are read in one transaction, so the files show one moment, however long it takes.
  await atOneMoment(database.raw, async (tx) => {
    for (const table of TABLE_NAMES.filter((name) => name !== "logs")) counts[table] = await writeTable(tx, table, dir);
    marks = await readMarks(tx);
  });
  counts.logs = await writeTable(logDatabase.raw, "logs", dir);
  const manifest: Manifest = { format: FORMAT, created_at: seconds(clock), marks, tables: counts };
  await writeFile(join(dir, "manifest.json"), [`${JSON.stringify(manifest, undefined, 2)}\n`]);
  return counts as Record<string, number>;
}

/**
 * Runs the work in a snapshot. In a usual transaction, each statement sees rows that others committed before it; here
 * all statements see the rows that existed at the start.
 */
function atOneMoment(raw: RawDatabase, work: (tx: RawTransaction) => Promise<void>): Promise<void> {
  return raw.transaction(async (tx) => {
    if (raw.kind === "postgres") await tx.run("set transaction isolation level repeatable read", []);
    if (raw.kind !== "mysql") return work(tx);
    await tx.run("set session transaction isolation level repeatable read", []);
    await tx.run("start transaction with consistent snapshot", []);
    try {
      await work(tx);
    } finally {
      await tx.run("set session transaction isolation level read committed", []);
    }
  });
}

async function readMarks(tx: Pick<RawTransaction, "rows">): Promise<Record<string, number>> {
  const places = MARKS.map(() => "?").join(", ");
  const sql = `select topic, revision from revisions where topic in (${places})`;
  const rows = await tx.rows<{ topic: string; revision: number }>(sql, MARKS);
  return Object.fromEntries(rows.map(({ topic, revision }) => [topic, revision]));
}

async function writeTable(tx: Pick<RawTransaction, "rows">, table: DumpedTable, dir: string): Promise<number> {
  let count = 0;
  async function* lines() {
    for await (const rows of pages(tx, table)) {
      count += rows.length;
      yield rows.map((row) => `${JSON.stringify(row)}\n`).join("");
    }
  }
  await writeFile(join(dir, buildFileName(table)), lines());
  return count;
}

async function writeFile(path: string, parts: AsyncIterable<string> | Iterable<string>): Promise<void> {
  const file = await open(path, "w", 0o600);
  try {
    for await (const part of parts) await file.write(part);
  } finally {
    await file.close();
  }
}

/**
 * Reads pages by the position after the last row, so that a long table is not read from its beginning for every page.
 */
async function* pages(tx: Pick<RawTransaction, "rows">, table: DumpedTable): AsyncGenerator<Row[]> {
  const key: readonly string[] = TABLES[table];
  const order = key.map((name) => `"${name}"`).join(", ");
  let last: SqlValue[] | undefined;
  for (;;) {
    const where = last ? `where ${after(key)}` : "";
    const values = last ? key.flatMap((_name, at) => (last ?? []).slice(0, at + 1)) : [];
    const rows = await tx.rows<Row>(`select * from ${table} ${where} order by ${order} limit ${PAGE}`, values);
    if (rows.length > 0) yield rows;
    const end = rows.at(-1);
    if (!end || rows.length < PAGE) return;
    last = key.map((name) => end[name] ?? null);
  }
}

/** Returns the condition `a > ? or (a = ? and b > ?) ...`. */
function after(key: readonly string[]): string {
  return key
    .map((name, at) => [...key.slice(0, at).map((before) => `"${before}" = ?`), `"${name}" > ?`].join(" and "))
    .map((part) => `(${part})`)
    .join(" or ");
}
