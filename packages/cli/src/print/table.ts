import { printable } from "./printable.ts";
import { isAscii, loadWidths, measureWidth } from "./width.ts";

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
  readonly isNumber?: boolean;
  /** Member of the row: it names the column in csv, which shows the raw value. */
  readonly field?: keyof Row & string;
  /** In csv, a column of US dollars follows quota, and times are ISO 8601. */
  readonly holds?: "quota" | "time";
  /** Decimals of an amount in dollars. */
  readonly decimals?: number;
  /** The text to show if there is no amount. */
  readonly text?: (row: Row) => string | undefined;
}

/** Must be awaited before laying out rows whose texts may go beyond ASCII. */
export async function prepareWidths<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Promise<void> {
  const isPlain = rows.every((row) => columns.every(({ value }) => isAscii(value(row))));
  if (!isPlain) await loadWidths();
}

/** Aligns columns; cells are cut only if the terminal is too narrow. */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number | undefined,
  hasTitles = true,
): string {
  const cells = rows.map((row) => formatCells(columns, row));
  const titles = hasTitles ? [listTitles(columns)] : [];
  const fitting = fitted(columns, [...titles, ...cells].reduce(wider, NO_WIDTHS), width);
  return [...titles, ...cells].map((texts) => formatLine(columns, texts, fitting)).join("\n");
}

/** A table whose rows arrive one by one: columns grow as needed, and the titles stand before the first row. */
export function growingTable<Row>(
  columns: readonly Column<Row>[],
  width: number | undefined,
  hasTitles = true,
): (row: Row) => string {
  let widths: readonly number[] = NO_WIDTHS;
  let titles = hasTitles ? [listTitles(columns)] : [];
  return (row) => {
    const lines = [...titles, formatCells(columns, row)];
    titles = [];
    widths = lines.reduce(wider, widths);
    const fitting = fitted(columns, widths, width);
    return lines.map((texts) => formatLine(columns, texts, fitting)).join("\n");
  };
}

function listTitles<Row>(columns: readonly Column<Row>[]): string[] {
  return columns.map(({ title }) => title);
}

function formatCells<Row>(columns: readonly Column<Row>[], row: Row): string[] {
  return columns.map((column) => printable(column.value(row).replaceAll(/\r?\n/g, "\\n")));
}

const NO_WIDTHS: readonly number[] = [];

function wider(widths: readonly number[], cells: readonly string[]): readonly number[] {
  return cells.map((cell, at) => Math.max(widths[at] ?? 0, measureWidth(cell)));
}

/** Longer texts are cut to this width before a column is left out. */
const READABLE = 16;
/** No text is cut below this width while columns can be left out instead. */
const LEAST = 8;
/** How many of the first columns are cut rather than left out. */
const FIRST = 4;

/**
 * If the terminal is too narrow, first long texts are cut, then the last columns are left out, then all texts are cut.
 */
function fitted<Row>(columns: readonly Column<Row>[], widths: readonly number[], width: number | undefined): number[] {
  if (width === undefined) return [...widths];
  let fitting = shrunk(columns, [...widths], { width, least: READABLE });
  while (calculateExcess(fitting, width) > 0 && fitting.length > FIRST) fitting.pop();
  fitting = shrunk(columns, widths.slice(0, fitting.length), { width, least: LEAST });
  while (calculateExcess(fitting, width) > 0 && fitting.length > 1) fitting.pop();
  return calculateExcess(fitting, width) > 0 ? [Math.max(1, width)] : fitting;
}

function calculateExcess(widths: readonly number[], width: number): number {
  return widths.reduce((sum, one) => sum + one + 2, -2) - width;
}

/** Cuts the longest texts until the line fits, or until all of them are `least` wide. */
function shrunk<Row>(
  columns: readonly Column<Row>[],
  widths: number[],
  { width, least }: { readonly width: number; readonly least: number },
): number[] {
  for (let excess = calculateExcess(widths, width); excess > 0; excess = calculateExcess(widths, width)) {
    const texts = widths.map((one, at) => (columns[at]?.isNumber || columns[at]?.holds ? 0 : one));
    const longest = Math.max(...texts);
    if (longest <= least) break;
    const second = Math.max(least, ...texts.filter((one) => one < longest));
    widths[texts.indexOf(longest)] = Math.max(second, longest - excess);
  }
  return widths;
}

function formatLine<Row>(columns: readonly Column<Row>[], texts: readonly string[], widths: readonly number[]): string {
  const cells = texts.slice(0, widths.length).map((text, at) => {
    const width = widths[at] ?? 0;
    const used = measureWidth(text);
    if (used > width) return isAscii(text) ? `${text.slice(0, width - 1)}…` : cutTo(text, width);
    const gap = " ".repeat(width - used);
    return columns[at]?.isNumber ? gap + text : text + gap;
  });
  return cells.join("  ").trimEnd();
}

/** Cutting before a letter of double width may leave one column empty. */
function cutTo(text: string, width: number): string {
  let cut = "";
  let used = 1;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    const next = used + measureWidth(segment);
    if (next > width) break;
    cut += segment;
    used = next;
  }
  return `${cut}…${" ".repeat(width - used)}`;
}
