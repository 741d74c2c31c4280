import { dollars } from "@fairway/wire";
import { formatCell, readSeconds } from "./columns.ts";
import type { Column } from "./table.ts";

/** The name of a column in csv and for `--columns`. */
export function formatColumnName<Row>({ title, field }: Column<Row>): string {
  return field ?? toSlug(title);
}

/** Whether `--columns` means this one: by its name in csv, or by its title. */
export function isCalled<Row>(column: Column<Row>, name: string): boolean {
  return [formatColumnName(column), toSlug(column.title)].includes(toSlug(name));
}

export function isTitled<Row>({ title }: Column<Row>, name: string): boolean {
  return toSlug(title) === toSlug(name);
}

function toSlug(title: string): string {
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

/** Columns whose quota is read in dollars. */
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

/** The same column in units of quota, under the name that the API has for it. */
export function asUnits<Row>(column: Column<Row>): Column<Row> {
  return { ...column, title: (column.field ?? column.title).toUpperCase().replaceAll("_", " ") };
}

/** Dollars for people; what is too little for the decimals says so. */
export function money(quota: number, decimals: number, quotaPerUnit: number): string {
  const text = dollars(quota, decimals, quotaPerUnit);
  if (quota !== 0 && /^-?[0.]+$/.test(text)) return `<$${(10 ** -decimals).toFixed(decimals)}`;
  return text.startsWith("-") ? `-$${text.slice(1)}` : `$${text}`;
}

/** An amount in a sentence: dollars, and the units that the API counts. */
export function moneyText(quota: number, quotaPerUnit: number): string {
  return `${money(quota, 2, quotaPerUnit)} (${quota} quota)`;
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
    if (holds !== "time") return formatCell(row[field]);
    const seconds = readSeconds(row[field]);
    return seconds === undefined ? "" : `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
  });
}
