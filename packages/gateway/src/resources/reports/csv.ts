import type { UsageReport } from "@fairway/wire";
import { csvCell } from "../logs/csv-cell.ts";

const BYTE_ORDER_MARK = "\uFEFF";

/** Returns a report as comma-separated text, one line for each row. */
export function formatReportCsv({ columns, rows }: UsageReport, hasMark: boolean): string {
  const lines = rows.map((row) => columns.map((column) => csvCell(readCell(column, row[column]))).join(","));
  return `${hasMark ? BYTE_ORDER_MARK : ""}${[columns.map(csvCell).join(","), ...lines].join("\r\n")}\r\n`;
}

function readCell(column: string, value: unknown): string | number {
  if (column === "start") return new Date(Number(value) * 1000).toISOString();
  return typeof value === "number" ? value : String(value);
}
