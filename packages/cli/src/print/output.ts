import { table, type Column } from "./table.ts";

export type Format = "table" | "json" | "jsonl";

/** Where a command writes: data to `out`, everything else to `notes`. */
export interface Output {
  readonly format: Format;
  /** Columns of the terminal; undefined when the output is piped. */
  readonly width: number | undefined;
  out(text: string): void;
  note(text: string): void;
}

export interface List<Row> {
  readonly kind: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** What to do about an empty list. */
  readonly empty: string;
}

/** A list in the chosen format; the empty list says what to do about it. */
export function printList<Row>(output: Output, { kind, columns, rows, empty }: List<Row>): void {
  if (output.format === "json") output.out(JSON.stringify({ kind: `${kind}List`, items: rows }, undefined, 2));
  else if (output.format === "jsonl") for (const row of rows) output.out(JSON.stringify(row));
  else if (rows.length === 0) output.note(empty);
  else output.out(table(columns, rows, output.width));
}

/** One object: JSON as it is, or lines of names and values. */
export function printOne(output: Output, value: Readonly<Record<string, unknown>>): void {
  if (output.format !== "table")
    return output.out(JSON.stringify(value, undefined, output.format === "json" ? 2 : undefined));
  const longest = Math.max(...Object.keys(value).map((name) => name.length));
  for (const [name, one] of Object.entries(value)) output.out(`${name.padEnd(longest)}  ${String(one)}`);
}
