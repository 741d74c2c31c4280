import type { LogRow } from "@fairway/wire";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Cursor, LogQuery } from "./filter.ts";
import { csvCell } from "./csv-cell.ts";
import type { LogStore } from "./store.ts";
import type { StoredLog } from "./view.ts";

export type ExportFormat = "csv" | "ndjson";

const ROWS_PER_READ = 1_000;
const BYTE_ORDER_MARK = "\uFEFF";

const COLUMNS = [
  "created_at",
  "type",
  "username",
  "token_name",
  "model_name",
  "channel",
  "channel_name",
  "group",
  "prompt_tokens",
  "completion_tokens",
  "quota",
  "use_time",
  "is_stream",
  "request_id",
  "tags",
  "end_user",
  "ip",
  "content",
  "other",
] as const satisfies readonly (keyof LogRow)[];

export interface ExportJob {
  readonly store: LogStore;
  readonly query: LogQuery;
  readonly format: ExportFormat;
  readonly view: (rows: StoredLog[]) => Promise<LogRow[]>;
}

/** Streams all matching rows, newest first, as fast as the client reads them. */
export async function exportLogs(response: ServerResponse, { store, query, format, view }: ExportJob): Promise<void> {
  const isCsv = format === "csv";
  const read = (before?: Cursor) => store.page(query, { offset: 0, limit: ROWS_PER_READ, before });
  // A log that cannot be read is refused before the file begins.
  let rows = await read();
  response.writeHead(200, {
    "Content-Type": isCsv ? "text/csv; charset=utf-8" : "application/x-ndjson; charset=utf-8",
    "Content-Disposition": `attachment; filename="logs.${format}"`,
  });
  if (isCsv) response.write(`${BYTE_ORDER_MARK}${COLUMNS.join(",")}\r\n`);
  for (;;) {
    const lines = (await view(rows)).map((row) => (isCsv ? csvLine(row) : `${JSON.stringify(row)}\n`));
    if (!(await send(response, lines.join("")))) return;
    const last = rows.at(-1);
    if (!last || rows.length < ROWS_PER_READ) break;
    rows = await read({ createdAt: last.created_at, id: last.id });
  }
  response.end();
}

/** Returns false if the client has left. */
async function send(response: ServerResponse, text: string): Promise<boolean> {
  if (response.destroyed) return false;
  if (response.write(text)) return true;
  const left = new AbortController();
  const onClose = () => left.abort();
  response.once("close", onClose);
  try {
    await once(response, "drain", { signal: left.signal });
    return true;
  } catch {
    return false;
  } finally {
    response.off("close", onClose);
  }
}

function csvLine(row: LogRow): string {
  return `${COLUMNS.map((column) => csvCell(column === "created_at" ? isoTime(row.created_at) : row[column])).join(",")}\r\n`;
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
