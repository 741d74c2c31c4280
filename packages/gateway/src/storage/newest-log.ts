import type { Kysely } from "kysely";
import type { Schema } from "./tables/schema.ts";

/** A log database, in ClickHouse or another one. */
interface Logs {
  readonly db: Kysely<Schema>;
  readonly kind: string;
}

/** Returns the highest id; 0 for an empty log. */
export async function newestLogId({ db, kind }: Logs): Promise<number> {
  return kind === "clickhouse" ? newestByKnown(db) : readNewest(db, 0);
}

/** Returns the time of the row with the highest id, in epoch seconds; 0 for an empty log. */
export async function newestTime(logs: Logs): Promise<number> {
  const newest = logs.db
    .selectFrom("logs")
    .select("created_at")
    .where("id", "=", await newestLogId(logs));
  return (await newest.executeTakeFirst())?.created_at ?? 0;
}

/** The highest id that was read last, by the log in ClickHouse. */
const known = new WeakMap<Kysely<Schema>, number>();

/**
 * The table is sorted by time, so ClickHouse would read the ids of all rows. Its smallest and largest ids of each part
 * leave those that are not below the last answer. New ids are higher, and an answer whose row was deleted finds nothing.
 */
async function newestByKnown(db: Kysely<Schema>): Promise<number> {
  const from = known.get(db) ?? 0;
  const newest = (await readNewest(db, from)) || (from > 0 ? await readNewest(db, 0) : 0);
  known.set(db, newest);
  return newest;
}

async function readNewest(db: Kysely<Schema>, from: number): Promise<number> {
  const newest = db
    .selectFrom("logs")
    .select((eb) => eb.fn.max("id").as("id"))
    .$if(from > 0, (rows) => rows.where("id", ">=", from));
  return Number((await newest.executeTakeFirstOrThrow()).id ?? 0);
}
