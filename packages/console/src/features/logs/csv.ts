import { LOG_TYPE, type LogRow } from "@fairway/wire";
import { readOther } from "./other.ts";

const TYPE_NAMES: Readonly<Record<number, string>> = {
  [LOG_TYPE.unknown]: "consumption",
  [LOG_TYPE.topup]: "topup",
  [LOG_TYPE.consume]: "consumption",
  [LOG_TYPE.manage]: "management",
  [LOG_TYPE.system]: "system",
};

type Cell = string | number | boolean;
type CsvColumn = readonly [name: string, cell: (row: LogRow, unit: number) => Cell];

const MILLISECONDS = 1000;

/** Names are always English, so that scripts find the same columns in every language. */
const COLUMNS: readonly CsvColumn[] = [
  ["time", (row) => new Date(row.created_at * MILLISECONDS).toISOString()],
  ["type", (row) => TYPE_NAMES[row.type] ?? String(row.type)],
  ["token", (row) => row.token_name],
  ["group", (row) => row.group],
  ["model", (row) => row.model_name],
  ["stream", (row) => row.is_stream],
  ["seconds", (row) => row.use_time],
  ["first_token_ms", (row) => readOther(row.other).frt],
  ["input_tokens", (row) => row.prompt_tokens],
  ["cached_tokens", (row) => readOther(row.other).cache_tokens],
  ["output_tokens", (row) => row.completion_tokens],
  ["quota", (row) => row.quota],
  ["dollars", (row, unit) => row.quota / unit],
  ["request_id", (row) => row.request_id],
  ["tags", (row) => row.tags],
  ["end_user", (row) => row.end_user],
  ["ip", (row) => row.ip],
  ["content", (row) => row.content],
];

const ADMIN_COLUMNS: readonly CsvColumn[] = [
  ["user", (row) => row.username],
  ["channel_id", (row) => row.channel],
  ["channel", (row) => row.channel_name],
];

/** A spreadsheet would run text that begins like a formula, and strangers choose the names. */
const FORMULA = /^[=+\-@\t\r]/;

function written(cell: Cell): string {
  if (typeof cell !== "string") return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Writes rows as comma-separated text; the first line names the columns. */
export function csvWriter(reader: { readonly isAdmin: boolean; readonly quotaPerUnit: number }) {
  const columns = reader.isAdmin ? [...COLUMNS, ...ADMIN_COLUMNS] : COLUMNS;
  const line = (cells: readonly Cell[]) => `${cells.map(written).join(",")}\r\n`;
  return {
    // The byte order mark tells spreadsheets that the text is UTF-8.
    head: `\u{FEFF}${line(columns.map(([name]) => name))}`,
    rows: (rows: readonly LogRow[]) =>
      rows.map((row) => line(columns.map(([, cell]) => cell(row, reader.quotaPerUnit)))).join(""),
  };
}
