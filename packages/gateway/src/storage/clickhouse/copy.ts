import { setTimeout as pause } from "node:timers/promises";
import type { Database } from "../database.ts";
import type { RawDatabase } from "../engines/raw.ts";
import { upsertSql } from "../inserts.ts";
import { newestLogId } from "../newest-log.ts";
import { LOG_COLUMNS } from "../log-rows.ts";
import type { ClickhouseLog } from "./open.ts";
import { storeRows, type NumberedRow } from "./rows.ts";

interface LogCopy {
  /** The database whose rows are copied. */
  readonly source: Database;
  readonly target: ClickhouseLog;
  /** Has the position of an interrupted copy. */
  readonly main: RawDatabase;
  readonly onStep: (copied: number, of: number) => void;
}

interface Copied {
  /** Rows of the source. */
  readonly rows: number;
  /** False if rows were changed or deleted in the meantime. */
  readonly isEqual: boolean;
}

const ROWS_PER_STEP = 5_000;
/** Servers assign ids before transactions commit: rows up to this far below the position may have appeared since. */
const LOOK_BACK = 10_000;
/** Row of `revisions` with the id of the last row that was copied. */
const POSITION = "log-copy";
const MARK = { table: "revisions", columns: ["topic", "revision"], key: ["topic"], replace: ["revision"] } as const;
const COLUMNS = ["id", ...LOG_COLUMNS].map((name) => `"${name}"`).join(", ");

/**
 * Copies the rows of a database to ClickHouse with their ids, in steps with pauses between them. A run that was
 * interrupted is continued, and a later run copies what was written since.
 */
export async function copyLogs({ source, target, main, onStep }: LogCopy): Promise<Copied> {
  await target.prepare();
  const newest = await newestLogId(source);
  let reached = Math.max(0, (await readPosition(main)) - LOOK_BACK);
  while (reached < newest) {
    const startedAt = performance.now();
    const sql = `select ${COLUMNS} from logs where id > ? and id <= ? order by id limit ${ROWS_PER_STEP}`;
    const rows = await source.raw.rows<NumberedRow>(sql, [reached, newest]);
    const missing = await selectMissing(target, rows);
    if (missing.length > 0) await storeRows(target, missing);
    reached = rows.length < ROWS_PER_STEP ? newest : (rows.at(-1)?.id ?? newest);
    await main.run(upsertSql(main.kind, MARK), [POSITION, reached]);
    onStep(reached, newest);
    await pause(performance.now() - startedAt);
  }
  const [from, to] = [await readSums(source.raw, newest), await readSums(target.raw, newest)];
  return { rows: from.rows, isEqual: from.rows === to.rows && from.quota === to.quota };
}

async function readPosition(main: RawDatabase): Promise<number> {
  const rows = await main.rows<{ revision: number }>("select revision from revisions where topic = ?", [POSITION]);
  return Number(rows[0]?.revision ?? 0);
}

async function selectMissing({ raw }: ClickhouseLog, rows: readonly NumberedRow[]): Promise<NumberedRow[]> {
  const [first, last] = [rows[0], rows.at(-1)];
  if (!first || !last) return [];
  const there = await raw.rows<{ id: number }>("select id from logs where id >= ? and id <= ?", [first.id, last.id]);
  const known = new Set(there.map(({ id }) => id));
  return rows.filter(({ id }) => !known.has(id));
}

interface LogSums {
  readonly rows: number;
  readonly quota: number;
}

async function readSums(raw: Pick<RawDatabase, "rows">, newest: number): Promise<LogSums> {
  const sql = "select count(*) as n, sum(quota) as quota from logs where id <= ?";
  const [row] = await raw.rows<{ n: number; quota: number | null }>(sql, [newest]);
  return { rows: Number(row?.n ?? 0), quota: Number(row?.quota ?? 0) };
}
