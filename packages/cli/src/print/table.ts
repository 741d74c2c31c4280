import stringWidth from "string-width";

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
  readonly isNumber?: boolean;
}

/** Aligned columns; cells are cut only when a terminal is too narrow for them. */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number | undefined): string {
  const cells = rows.map((row) => cellsOf(columns, row));
  const widths = cells.reduce(wider, titlesOf(columns).map(stringWidthOf));
  const fitting = fitted(widths, width);
  return [titlesOf(columns), ...cells].map((texts) => lineOf(columns, texts, fitting)).join("\n");
}

/** A table whose rows come one by one: columns grow when they have to, and the titles stand before the first row. */
export function growingTable<Row>(columns: readonly Column<Row>[], width: number | undefined): (row: Row) => string {
  let widths: number[] | undefined;
  return (row) => {
    const cells = cellsOf(columns, row);
    const isFirst = widths === undefined;
    widths = wider(widths ?? titlesOf(columns).map(stringWidthOf), cells);
    const fitting = fitted(widths, width);
    const lines = isFirst ? [titlesOf(columns), cells] : [cells];
    return lines.map((texts) => lineOf(columns, texts, fitting)).join("\n");
  };
}

function titlesOf<Row>(columns: readonly Column<Row>[]): string[] {
  return columns.map(({ title }) => title);
}

function cellsOf<Row>(columns: readonly Column<Row>[], row: Row): string[] {
  return columns.map((column) => printable(column.value(row)));
}

function stringWidthOf(text: string): number {
  return stringWidth(text);
}

function wider(widths: readonly number[], cells: readonly string[]): number[] {
  return widths.map((one, at) => Math.max(one, stringWidth(cells[at] ?? "")));
}

/** The last column gives way where the terminal is too narrow. */
function fitted(widths: readonly number[], width: number | undefined): number[] {
  const total = widths.reduce((sum, one) => sum + one + 2, -2);
  if (width === undefined || total <= width) return [...widths];
  return widths.with(-1, Math.max(8, (widths.at(-1) ?? 0) - (total - width)));
}

function lineOf<Row>(columns: readonly Column<Row>[], texts: readonly string[], widths: readonly number[]): string {
  const cells = texts.map((text, at) => {
    const cut = cutTo(text, widths[at] ?? 0);
    const gap = " ".repeat((widths[at] ?? 0) - stringWidth(cut));
    return columns[at]?.isNumber ? gap + cut : cut + gap;
  });
  return cells.join("  ").trimEnd();
}

function cutTo(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let cut = "";
  let used = 1;
  for (const { segment } of LETTERS.segment(text)) {
    used += stringWidth(segment);
    if (used > width) break;
    cut += segment;
  }
  return `${cut}…`;
}

const LETTERS = new Intl.Segmenter();

/** Control characters of stored texts must not reach the terminal, nor those that turn the direction of a line. */
export function printable(text: string, kept = ""): string {
  return text.replace(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/gu, (letter) => (kept.includes(letter) ? letter : "�"));
}
