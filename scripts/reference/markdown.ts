/** Cells of one row; line breaks and bars are escaped. */
export type Row = readonly string[];

export function table(head: Row, rows: readonly Row[]): string {
  const line = (cells: Row) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

export function code(text: string): string {
  return text === "" ? "" : `\`${text.replaceAll("`", "'")}\``;
}

/** Joins a title, the source of the page, and its parts. */
export function page(title: string, source: string, ...parts: readonly string[]): string {
  const note = `Generated from \`${source}\` by \`npm run docs\`; do not edit.`;
  return `${[`# ${title}`, note, ...parts].join("\n\n")}\n`;
}

/** Groups in the order of their first member. */
export function groupBy<T>(items: readonly T[], getKey: (item: T) => string): [key: string, members: T[]][] {
  return [...Map.groupBy(items, getKey)];
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll(/\s*\n\s*/g, " ");
}
