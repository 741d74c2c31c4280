import type { LogRow } from "@fairway/wire";

/**
 * What a link says of a row: its id for administrators, the id of its request for owners, who see running numbers. Rows
 * of owners that are no calls are found by what they say, in the list that shows them.
 */
export function buildRowKey(row: LogRow, isAdmin: boolean): string {
  if (isAdmin) return String(row.id);
  return row.request_id === "" ? `${row.created_at}-${row.type}-${row.quota}` : row.request_id;
}

/** The row of a link among those of the list; a request id finds its newest row. */
export function findIndexByKey(rows: readonly LogRow[], key: string, isAdmin: boolean): number {
  const index = rows.findIndex((row) => buildRowKey(row, isAdmin) === key);
  return index >= 0 || key === "" ? index : rows.findIndex((row) => row.request_id === key);
}
