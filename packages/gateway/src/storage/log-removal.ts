import type { Kysely, SelectQueryBuilder } from "kysely";
import type { Database } from "./database.ts";
import type { Schema } from "./schema/schema.ts";

/**
 * Rows of one statement. On servers nothing waits long for its locks, and replication follows; SQLite holds the whole
 * process up meanwhile.
 */
const ROWS_AT_ONCE: Readonly<Record<Database["kind"], number>> = { mysql: 1_000, postgres: 1_000, sqlite: 200 };

export interface Removal {
  /** Rows older than this go (epoch seconds), oldest first. */
  readonly before: number;
  /** Rows from this id on stay, however old: an id must never be given twice. */
  readonly below: number;
  /** Only rows of this type. */
  readonly type?: number | undefined;
}

/** Deletes portion by portion; each yields how many rows it took. Whoever stops asking stops it. */
export async function* removeLogs({ db, kind }: Database, { before, below, type }: Removal): AsyncGenerator<number> {
  const atOnce = ROWS_AT_ONCE[kind];
  // What was deleted stands in the index for a while: nobody walks over it again.
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
    const { numDeletedRows } = await db.deleteFrom("logs").where("id", "in", ids).executeTakeFirstOrThrow();
    from = last.created_at;
    yield Number(numDeletedRows);
    if (rows.length < atOnce) return;
  }
}

/** Portions that a removal will take, as far as it is worth counting. */
export async function countPortions({ db, kind }: Database, before: number, type?: number): Promise<number> {
  const atOnce = ROWS_AT_ONCE[kind];
  const old = ofType(db.selectFrom("logs"), type)
    .select("id")
    .where("created_at", "<", before)
    .limit(MOST_COUNTED * atOnce);
  const row = await db
    .selectFrom(old.as("old"))
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return Math.ceil(Number(row.count) / atOnce);
}

function ofType(query: SelectQueryBuilder<Schema, "logs", object>, type: number | undefined) {
  return type === undefined ? query : query.where("type", "=", type);
}

/** Portions; a hundred million rows are told as ten million. */
const MOST_COUNTED = 10_000;

export async function newestLogId(db: Kysely<Schema>): Promise<number> {
  const newest = db.selectFrom("logs").select((eb) => eb.fn.max("id").as("id"));
  return Number((await newest.executeTakeFirstOrThrow()).id ?? 0);
}
