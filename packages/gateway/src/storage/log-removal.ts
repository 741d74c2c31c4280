import type { SelectQueryBuilder } from "kysely";
import { countDays, removeByDay } from "./clickhouse/removal.ts";
import type { Database } from "./database.ts";
import type { LogDatabase } from "./log-database.ts";
import type { Schema } from "./tables/schema.ts";

/**
 * Rows per statement. On servers this limits lock times and replication lag; on SQLite it limits how long a statement
 * blocks the process.
 */
const ROWS_AT_ONCE: Readonly<Record<Database["kind"], number>> = { mysql: 1_000, postgres: 1_000, sqlite: 200 };

export interface Removal {
  /** Rows older than this are deleted (epoch seconds), oldest first. */
  readonly before: number;
  /** Rows with this id or a higher one are not deleted, whatever their age: an id must never be reused. */
  readonly below: number;
  /** Deletes only rows of this type. */
  readonly type?: number | undefined;
}

/** Deletes in batches and yields the number of rows of each. Leaving the loop stops the deletion. */
export async function* removeLogs(logs: LogDatabase, removal: Removal): AsyncGenerator<number> {
  if (logs.kind === "clickhouse") {
    yield* removeByDay(logs, removal);
    return;
  }
  const { db, kind } = logs;
  const { before, below, type } = removal;
  const atOnce = ROWS_AT_ONCE[kind];
  // Deleted rows stay in the index for a while, so the next batch starts after them.
  let from = 0;
  for (;;) {
    const rows = await ofType(db.selectFrom("logs"), type)
      .select(["id", "created_at"])
      .where("created_at", ">=", from)
      .where("created_at", "<", before)
      .where("id", "<", below)
      .orderBy("created_at")
      .orderBy("id")
      .limit(atOnce)
      .execute();
    const last = rows.at(-1);
    if (!last) return;
    const ids = rows.map(({ id }) => id);
    // The times limit the search to the partitions that contain these rows.
    const these = db.deleteFrom("logs").where("id", "in", ids);
    const inTime = these.where("created_at", ">=", rows[0]?.created_at ?? 0).where("created_at", "<=", last.created_at);
    const { numDeletedRows } = await inTime.executeTakeFirstOrThrow();
    from = last.created_at;
    yield Number(numDeletedRows);
    if (rows.length < atOnce) return;
  }
}

/** Returns the number of batches of a removal, counted up to a limit. */
export async function countBatches(logs: LogDatabase, before: number, type?: number): Promise<number> {
  if (logs.kind === "clickhouse") return countDays(logs, before, type);
  const { db, kind } = logs;
  const atOnce = ROWS_AT_ONCE[kind];
  const old = ofType(db.selectFrom("logs"), type)
    .select("id")
    .where("created_at", "<", before)
    .limit(MAX_COUNTED * atOnce);
  const row = await db
    .selectFrom(old.as("old"))
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return Math.ceil(Number(row.count) / atOnce);
}

function ofType(query: SelectQueryBuilder<Schema, "logs", object>, type: number | undefined) {
  return type === undefined ? query : query.where("type", "=", type);
}

/** Limit in batches; with it, a hundred million rows are reported as ten million. */
const MAX_COUNTED = 10_000;
