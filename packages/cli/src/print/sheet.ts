import { dollars } from "@fairway/wire";
import { cellOf, secondsOf } from "./columns.ts";
import type { Column } from "./table.ts";

/** The name of a column in csv and for `--columns`. */
export function headOf<Row>({ title, field }: Column<Row>): string {
  return field ?? slugOf(title);
}

/** Whether `--columns` means this one: by its name in csv, or by its title. */
export function isCalled<Row>(column: Column<Row>, name: string): boolean {
  return [headOf(column), slugOf(column.title)].includes(slugOf(name));
}

function slugOf(title: string): string {
  return title.toLowerCase().replace(/[ -]/g, "_");
}

/** Columns with one of US dollars behind each of quota. */
export function withDollars<Row>(columns: readonly Column<Row>[], quotaPerUnit: number): Column<Row>[] {
  // As many decimals as tell a single unit apart.
  const decimals = Math.max(6, String(Math.ceil(quotaPerUnit)).length);
  return columns.flatMap((column) => {
    const { field, holds } = column;
    if (field === undefined || holds !== "quota") return [column];
    const value = (row: Row) => {
      const amount: unknown = row[field];
      return typeof amount === "number" ? dollars(amount, decimals, quotaPerUnit) : "";
    };
    return [column, { title: `${field.toUpperCase()}_USD`, isNumber: true, value }];
  });
}

/** A line of csv or tsv; a cell is quoted as RFC 4180 says where it holds the separator, a quote or a line end. */
export function sheetLine(cells: readonly string[], separator: string): string {
  return cells.map((cell) => quoted(cell, separator)).join(separator);
}

function quoted(cell: string, separator: string): string {
  return cell.includes(separator) || /["\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** Values as the gateway gave them, times as ISO 8601. */
export function sheetCells<Row>(columns: readonly Column<Row>[], row: Row): string[] {
  return columns.map(({ field, holds, value }) => {
    if (field === undefined) return value(row);
    if (holds !== "time") return cellOf(row[field]);
    const seconds = secondsOf(row[field]);
    return seconds === undefined ? "" : `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
  });
}
