import { setTimeout as pause } from "node:timers/promises";
import type { Database } from "../database.ts";
import { hasTable } from "../schema/introspect.ts";
import { isTransient } from "../errors.ts";
import { LOG_COLUMNS } from "../log-rows.ts";
import { withMigrationLock } from "../schema/migration-lock.ts";
import { daysBetween, inOneStep, makePartitions, readPartitions, withPatience } from "./partitions.ts";
import { partitionedLogs } from "../schema/log-partitions.ts";

export interface Conversion {
  /** The database that contains `logs`. */
  readonly database: Database;
  /** Epoch seconds. */
  readonly now: number;
  /** Called after each step with the number of rows copied so far and the number at the start. */
  readonly onStep: (copied: number, of: number) => void;
}

export interface Converted {
  readonly rows: number;
  /** If the two tables differ, the old one remains as `logs_before`. */
  readonly isEqual: boolean;
}

/** The new table before the swap, and the old one after it. */
const NEW = "logs_parts";
const OLD = "logs_before";
const ROWS_PER_STEP = 5_000;
/** Number of ids to copy again, because transactions do not commit in the order of their ids. */
const LOOK_BACK = 10_000;
/** Number of ids that the old table may still generate until the swap; the new table begins after them. */
const SPARE_IDS = 1_000_000;
const SWAP_ATTEMPTS = 60;
const DAY = 86_400;
const DAYS_AHEAD = 3;
const MAX_DAYS = 400;

/**
 * Copies `logs` into a table with partitions, in steps with pauses between them, and swaps the two. Calls continue to
 * write; rows that were written to the old table until the swap are copied after it. An interrupted run continues.
 * Returns undefined if `logs` already has partitions.
 */
export function convertLogs(conversion: Conversion): Promise<Converted | undefined> {
  const { database } = conversion;
  return withMigrationLock(database, 1_000, async () => {
    if (await hasTable(database.db, database.kind, OLD)) return finish(conversion, 0);
    if ((await readPartitions(database)).length > 0) return undefined;
    const start = await newestId(database, "logs");
    await prepare(conversion);
    const copied = await copyUntilNear(conversion);
    await swap(database);
    // Copies the newest rows first, because they are missing in the log until then.
    await copy(conversion, { from: OLD, to: "logs", after: copied - LOOK_BACK });
    return finish(conversion, start - LOOK_BACK);
  });
}

async function prepare({ database, now }: Conversion): Promise<void> {
  const { raw, db, kind } = database;
  if (kind === "sqlite") throw new Error("SQLite has no partitions: the log stays one table there");
  if (!(await hasTable(db, kind, NEW))) for (const sql of partitionedLogs(kind, NEW)) await raw.run(sql, []);
  const [row] = await raw.rows<{ oldest: number | null }>("select min(created_at) as oldest from logs", []);
  const from = Math.max(Number(row?.oldest ?? now), now - MAX_DAYS * DAY);
  const ends = daysBetween(Math.min(from, now), now + DAYS_AHEAD * DAY);
  await makePartitions(database, { table: NEW, ends, maxMoved: Infinity });
}

/** Copies until few rows are left; returns the last id that was checked. */
async function copyUntilNear(conversion: Conversion): Promise<number> {
  const { database } = conversion;
  const reached = (await newestId(database, NEW)) - LOOK_BACK;
  return copy(conversion, { from: "logs", to: NEW, after: reached });
}

interface Copy {
  readonly from: string;
  readonly to: string;
  /** Copies rows with higher ids than this that do not exist yet. */
  readonly after: number;
}

async function copy({ database, onStep }: Conversion, { from, to, after }: Copy): Promise<number> {
  const { raw } = database;
  const last = await newestId(database, from);
  let reached = Math.max(0, after);
  while (reached < last) {
    const startedAt = performance.now();
    const text = `select id from ${from} where id > ? and id <= ? order by id limit 1 offset ${ROWS_PER_STEP - 1}`;
    const [end] = await raw.rows<{ id: number }>(text, [reached, last]);
    const next = end?.id ?? last;
    await raw.transaction((tx) => tx.run(copySql(from, to), [reached, next]));
    reached = next;
    onStep(reached, last);
    await pause(performance.now() - startedAt);
  }
  return reached;
}

const COLUMNS = ["id", ...LOG_COLUMNS];

/**
 * Returns the SQL of a copy. After the swap a charge may have been corrected: then its row in the old table is
 * outdated.
 */
function copySql(from: string, to: string): string {
  const names = COLUMNS.map((name) => `"${name}"`).join(", ");
  const values = COLUMNS.map((name) => `o."${name}"`).join(", ");
  const isThere = `select 1 from ${to} n where n.id = o.id and n.created_at = o.created_at`;
  const isReplaced = `o.type = 2 and exists (select 1 from ${to} n where n.request_id = o.request_id and n.type = 2 and n.id > o.id)`;
  const isCurrent = from === OLD ? ` and not (${isReplaced})` : "";
  return `insert into ${to} (${names}) select ${values} from ${from} o
    where o.id > ? and o.id <= ? and not exists (${isThere})${isCurrent}`;
}

/** Swaps the tables. Both renames are atomic for all others, and wait for open transactions of the old table. */
async function swap(database: Database): Promise<void> {
  const { db, raw, kind } = database;
  const first = (await newestId(database, "logs")) + SPARE_IDS;
  if (kind === "mysql") await raw.run(`alter table ${NEW} auto_increment = ${first}`, []);
  else await raw.rows(`select setval('${NEW}_id_seq', ${first}, false)`, []);
  const change = async () => {
    if (kind === "mysql") await withPatience(db, `rename table logs to ${OLD}, ${NEW} to logs`);
    else await inOneStep(db, [...(await indexRenames(database)), ...postgresSwap()]);
  };
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await change();
    } catch (error) {
      if (attempt === SWAP_ATTEMPTS || !(isTransient(error) || isLockTimeout(error))) throw error;
      await pause(1_000);
    }
  }
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "55P03";
}

function postgresSwap(): string[] {
  return [
    `alter table logs rename to ${OLD}`,
    `alter table ${NEW} rename to logs`,
    `alter sequence if exists logs_id_seq rename to ${OLD}_id_seq`,
    `alter sequence ${NEW}_id_seq rename to logs_id_seq`,
  ];
}

/** Renames indexes, because later schema changes identify them by the name of their table. */
async function indexRenames({ raw }: Database): Promise<string[]> {
  const text =
    "select tablename, indexname from pg_indexes where schemaname = current_schema() and tablename in (?, ?)";
  const rows = await raw.rows<{ tablename: string; indexname: string }>(text, ["logs", NEW]);
  return rows
    .toSorted((a, b) => (a.tablename < b.tablename ? -1 : 1))
    .map(({ tablename, indexname }) => {
      const [from, to] = tablename === "logs" ? ["logs", OLD] : [NEW, "logs"];
      return `alter index ${indexname} rename to ${indexname.replace(from, to)}`;
    });
}

async function finish(conversion: Conversion, after: number): Promise<Converted> {
  const { database } = conversion;
  const last = await copy(conversion, { from: OLD, to: "logs", after });
  const old = await readTableSums(database, OLD, last);
  const now = await readTableSums(database, "logs", last);
  const isEqual = old.rows === now.rows && old.quota === now.quota;
  if (isEqual) await database.raw.run(`drop table ${OLD}`, []);
  return { rows: now.rows, isEqual };
}

async function readTableSums({ raw }: Database, table: string, last: number): Promise<{ rows: number; quota: number }> {
  const text = `select count(*) as n, coalesce(sum(quota), 0) as quota from ${table} where id <= ?`;
  const [row] = await raw.rows<{ n: number; quota: number }>(text, [last]);
  return { rows: Number(row?.n ?? 0), quota: Number(row?.quota ?? 0) };
}

async function newestId({ raw }: Database, table: string): Promise<number> {
  const [row] = await raw.rows<{ id: number | null }>(`select max(id) as id from ${table}`, []);
  return Number(row?.id ?? 0);
}
