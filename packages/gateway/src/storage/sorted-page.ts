import { sql, type Selectable, type SelectQueryBuilder } from "kysely";
import type { Schema } from "./tables/schema.ts";

export interface PageQuery {
  /** The column to sort by; any other text sorts by id. */
  readonly sort: string;
  /** `asc`, or any other text for descending. */
  readonly order: string;
  readonly offset: number;
  readonly limit: number;
}

/**
 * Returns one page of the rows that `matching` selects, and the number of all. Rows with equal values are sorted by id,
 * newest first.
 */
export async function sortedPage<T extends keyof Schema>(
  matching: SelectQueryBuilder<Schema, T, object>,
  sortable: readonly string[],
  { sort, order, offset, limit }: PageQuery,
): Promise<{ rows: Selectable<Schema[T]>[]; total: number }> {
  const column = sortable.find((name) => name === sort) ?? "id";
  const sorted = matching.selectAll().orderBy(sql.ref(column), order === "asc" ? "asc" : "desc");
  const unique = column === "id" ? sorted : sorted.orderBy(sql.ref("id"), "desc");
  const count = matching.select((eb) => eb.fn.countAll<number>().as("total"));
  const { total } = (await count.executeTakeFirstOrThrow()) as { total: number };
  const rows = await unique.offset(offset).limit(limit).execute();
  return { rows: rows as unknown as Selectable<Schema[T]>[], total: Number(total) };
}
