import type { Selectable } from "kysely";
import type { LogDatabase } from "../../storage/log-database.ts";
import type { LogTable } from "../../storage/tables/schema.ts";

export type StoredLogRow = Selectable<LogTable>;

/** Returns the rows in the order of their ids. */
export function rowsBetween({ db }: LogDatabase, after: number, to: number): Promise<StoredLogRow[]> {
  return db.selectFrom("logs").selectAll().where("id", ">", after).where("id", "<=", to).orderBy("id").execute();
}

/** Returns the id of the last row of a batch, or `settled` if there are fewer rows. */
export async function findBatchEnd(
  { db }: LogDatabase,
  { after, settled, rows }: { readonly after: number; readonly settled: number; readonly rows: number },
): Promise<{ readonly to: number; readonly isFull: boolean }> {
  const last = db.selectFrom("logs").select("id").where("id", ">", after).where("id", "<=", settled).orderBy("id");
  const row = await last
    .offset(rows - 1)
    .limit(1)
    .executeTakeFirst();
  return { to: row?.id ?? settled, isFull: row !== undefined };
}

/** Returns the epoch seconds of the first row above an id; undefined if there is none. */
export async function timeAfter({ db }: LogDatabase, after: number): Promise<number | undefined> {
  const rows = db.selectFrom("logs").select("created_at").where("id", ">", after).orderBy("id").limit(1);
  return (await rows.executeTakeFirst())?.created_at;
}

/** Returns one line of JSON. `other` stays a text, because its members differ by version and type. */
export function formatLogLine(row: StoredLogRow): string {
  const { id, created_at, is_stream, ...rest } = row;
  return JSON.stringify({ id, created_at, time: isoTime(created_at), ...rest, is_stream: is_stream === 1 });
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}
