export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
  readonly isNumber?: boolean;
}

/** Aligned columns; cells are cut only when a terminal is too narrow for them. */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number | undefined): string {
  const cells = rows.map((row) => columns.map((column) => printable(column.value(row))));
  const widths = columns.map((column, at) =>
    Math.max(column.title.length, ...cells.map((line) => line[at]?.length ?? 0)),
  );
  const total = widths.reduce((sum, one) => sum + one + 2, -2);
  const last = widths.length - 1;
  if (width !== undefined && total > width) widths[last] = Math.max(8, (widths[last] ?? 0) - (total - width));
  const line = (texts: readonly string[]) =>
    texts
      .map((text, at) => {
        const cut = text.length > (widths[at] ?? 0) ? `${text.slice(0, (widths[at] ?? 1) - 1)}…` : text;
        return columns[at]?.isNumber ? cut.padStart(widths[at] ?? 0) : cut.padEnd(widths[at] ?? 0);
      })
      .join("  ")
      .trimEnd();
  return [line(columns.map(({ title }) => title)), ...cells.map(line)].join("\n");
}

/** Control characters of stored names must not reach the terminal. */
function printable(text: string): string {
  return text
    .split("")
    .map((letter) => (isControl(letter.charCodeAt(0)) ? "�" : letter))
    .join("");
}

function isControl(code: number): boolean {
  return code < 0x20 || (code >= 0x7f && code <= 0x9f);
}
