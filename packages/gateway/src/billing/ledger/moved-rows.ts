import type { LogRowInput } from "../../storage/log-rows.ts";

/** A row of the outbox. */
export type MovedRow = LogRowInput & {
  /** A correction, which takes the place of the row of its charge. */
  readonly replaces?: true;
};

export type RowKey = Pick<LogRowInput, "request_id" | "user_id" | "type" | "quota" | "content">;

/** Rows written by one management API call share its request id and differ in the other columns. */
export function buildRowKey({ request_id, user_id, type, quota, content }: RowKey): string {
  return JSON.stringify([request_id, user_id, type, quota, content]);
}

interface NewRows<Row> {
  readonly fresh: readonly Row[];
  /** Requests whose stored row of a charge has to go. */
  readonly replaced: readonly string[];
}

/** Selects the rows that the log does not have, because a crash between two commits moves the same rows again. */
export function selectNew<Row extends MovedRow>(rows: readonly Row[], known: readonly RowKey[]): NewRows<Row> {
  const here = new Set(known.map(buildRowKey));
  const fresh: Row[] = [];
  const replaced: string[] = [];
  for (const row of rows) {
    if (here.has(buildRowKey(row))) continue;
    if (row.replaces) {
      replaced.push(row.request_id);
      const earlier = fresh.findIndex((other) => other.request_id === row.request_id && other.type === row.type);
      if (earlier >= 0) fresh.splice(earlier, 1);
    }
    fresh.push(row);
  }
  return { fresh, replaced };
}
