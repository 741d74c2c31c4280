import type { LogRow } from "@fairway/wire";

/**
 * Returns how a link names a row: by its id for administrators, by its request id for owners, who see running numbers.
 * Rows of owners that are not calls are found by their content, in the list that shows them.
 */
export function buildRowKey(row: LogRow, isAdmin: boolean): string {
  if (isAdmin) return String(row.id);
  return row.request_id === "" ? `${row.created_at}-${row.type}-${row.quota}` : row.request_id;
}

/** Finds the row of a link in the list; a request id finds its newest row. */
export function findIndexByKey(rows: readonly LogRow[], key: string, isAdmin: boolean): number {
  const index = rows.findIndex((row) => buildRowKey(row, isAdmin) === key);
  return index >= 0 || key === "" ? index : rows.findIndex((row) => row.request_id === key);
}
