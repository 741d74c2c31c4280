import type { Insertable, Transaction } from "kysely";
import type { DatabaseKind } from "./columns.ts";
import type { Schema } from "./schema.ts";

type TableWithId = { [T in keyof Schema]: Schema[T] extends { id: unknown } ? T : never }[keyof Schema];

/** Inserts one row and answers its id; MySQL has no `returning`, PostgreSQL has nothing else. */
export async function insertRow<T extends TableWithId>(
  trx: Transaction<Schema>,
  kind: DatabaseKind,
  table: T,
  row: Insertable<Schema[T]>,
): Promise<number> {
  const insert = trx.insertInto(table).values(row as never);
  if (kind !== "postgres") return Number((await insert.executeTakeFirstOrThrow()).insertId);
  const answer = await insert.returning("id" as never).executeTakeFirstOrThrow();
  return Number((answer as { id: unknown }).id);
}

/** Cuts a list of rows into lists that fit into one statement each. */
export function inChunks<Row>(rows: readonly Row[], size: number): Row[][] {
  const chunks: Row[][] = [];
  for (let at = 0; at < rows.length; at += size) chunks.push(rows.slice(at, at + size));
  return chunks;
}
