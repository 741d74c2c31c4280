import { formatTime } from "@fairway/wire";
import type { Column } from "./table.ts";

/** A column that shows a member unchanged. */
export function plain<Row>(title: string, field: keyof Row & string): Column<Row> {
  return { title, field, value: (row) => formatCell(row[field]) };
}

export function number<Row>(title: string, field: keyof Row & string): Column<Row> {
  return { title, field, isNumber: true, value: (row) => formatCell(row[field]) };
}

/** Units of quota: people read US dollars, csv has both. */
export function quota<Row>(title: string, field: keyof Row & string, decimals = 2): Column<Row> {
  return { ...number<Row>(title, field), holds: "quota", decimals };
}

/** Epoch seconds; below 1 there is no time. */
export function time<Row>(title: string, field: keyof Row & string): Column<Row> {
  const value = (row: Row) => {
    const seconds = readSeconds(row[field]);
    return seconds === undefined ? "-" : formatTime(seconds);
  };
  return { title, field, holds: "time", value };
}

/** Reads epoch seconds; undefined if the member holds no time. */
export function readSeconds(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 ? value : undefined;
}

/** Formats a value on one line: nothing if it is absent, JSON if it has members. */
export function formatCell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : JSON.stringify(value);
}
