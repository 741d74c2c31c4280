import stringWidth from "string-width";

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
  readonly isNumber?: boolean;
}

/** Aligned columns; cells are cut only when a terminal is too narrow for them. */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number | undefined): string {
  const cells = rows.map((row) => columns.map((column) => printable(column.value(row))));
  const widths = columns.map((column, at) =>
    Math.max(column.title.length, ...cells.map((line) => stringWidth(line[at] ?? ""))),
  );
  const total = widths.reduce((sum, one) => sum + one + 2, -2);
  const last = widths.length - 1;
  if (width !== undefined && total > width) widths[last] = Math.max(8, (widths[last] ?? 0) - (total - width));
  const line = (texts: readonly string[]) =>
    texts
      .map((text, at) => {
        const cut = cutTo(text, widths[at] ?? 0);
        const gap = " ".repeat((widths[at] ?? 0) - stringWidth(cut));
        return columns[at]?.isNumber ? gap + cut : cut + gap;
      })
      .join("  ")
      .trimEnd();
  return [line(columns.map(({ title }) => title)), ...cells.map(line)].join("\n");
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
