import { dollars } from "@fairway/wire";
import { formatCell, readSeconds } from "./columns.ts";
import type { Column } from "./table.ts";

/** Returns the name of a column in csv and for `--columns`. */
export function formatColumnName<Row>({ title, field }: Column<Row>): string {
  return field ?? toSlug(title);
}

/** Returns whether `--columns` means this column, by its csv name or its title. */
export function isCalled<Row>(column: Column<Row>, name: string): boolean {
  return [formatColumnName(column), toSlug(column.title)].includes(toSlug(name));
}

export function isTitled<Row>({ title }: Column<Row>, name: string): boolean {
  return toSlug(title) === toSlug(name);
}

function toSlug(title: string): string {
  return title.toLowerCase().replace(/[ -]/g, "_");
}

/** Adds a column of US dollars after each column of quota. */
export function withDollars<Row>(columns: readonly Column<Row>[], quotaPerUnit: number): Column<Row>[] {
  // Enough decimals to distinguish a single unit.
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

/** Shows the quota columns in dollars. */
export function asDollars<Row>(columns: readonly Column<Row>[], quotaPerUnit: number): Column<Row>[] {
  return columns.map((column) => {
    const { field, holds, decimals = 2 } = column;
    if (field === undefined || holds !== "quota") return column;
    const value = (row: Row) => {
      const amount: unknown = row[field];
      return column.text?.(row) ?? (typeof amount === "number" ? money(amount, decimals, quotaPerUnit) : "");
    };
    return { ...column, value };
  });
}

/** Returns the column in units of quota, under its API name. */
export function asUnits<Row>(column: Column<Row>): Column<Row> {
  return { ...column, title: (column.field ?? column.title).toUpperCase().replaceAll("_", " ") };
}

/** Formats dollars for people; an amount too small for the decimals is marked as such. */
export function money(quota: number, decimals: number, quotaPerUnit: number): string {
  const text = dollars(quota, decimals, quotaPerUnit);
  if (quota !== 0 && /^-?[0.]+$/.test(text)) return `<$${(10 ** -decimals).toFixed(decimals)}`;
  return text.startsWith("-") ? `-$${text.slice(1)}` : `$${text}`;
}

/** Formats an amount in a sentence: dollars, and the units that the API counts. */
export function moneyText(quota: number, quotaPerUnit: number): string {
  return `${money(quota, 2, quotaPerUnit)} (${quota} quota)`;
}

/** Formats a line of csv or tsv; a cell with the separator, a quote or a line end is quoted per RFC 4180. */
export function sheetLine(cells: readonly string[], separator: string): string {
  return cells.map((cell) => quoted(cell, separator)).join(separator);
}

function quoted(cell: string, separator: string): string {
  return cell.includes(separator) || /["\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** Returns the values as the gateway sent them, with times as ISO 8601. */
export function sheetCells<Row>(columns: readonly Column<Row>[], row: Row): string[] {
  return columns.map(({ field, holds, value }) => {
    if (field === undefined) return value(row);
    if (holds !== "time") return formatCell(row[field]);
    const seconds = readSeconds(row[field]);
    return seconds === undefined ? "" : `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
  });
}
