import { createHash } from "node:crypto";
import { LOG_COLUMNS, toRowValues, type LogRowInput } from "../log-rows.ts";
import type { ClickhouseLog } from "./open.ts";
import { PARTITION_SECONDS } from "./table.ts";

export type NumberedRow = LogRowInput & { readonly id: number };

/** Stores rows with their ids, the rows of a day all or none. The server ignores a day that it got before. */
export async function storeRows({ client }: ClickhouseLog, rows: readonly NumberedRow[]): Promise<void> {
  const days = Map.groupBy(rows, ({ created_at }) => Math.floor(created_at / PARTITION_SECONDS));
  for (const some of days.values()) {
    const values = some.map(toStoredRow);
    const token = createHash("sha256").update(JSON.stringify(values)).digest("hex");
    await client.insert(values, token);
  }
}

function toStoredRow(row: NumberedRow): Record<string, unknown> {
  const values = toRowValues(row);
  return { id: row.id, ...Object.fromEntries(LOG_COLUMNS.map((name, at) => [name, values[at]])) };
}
