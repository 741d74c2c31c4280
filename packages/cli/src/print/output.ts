import { CliError, EXIT } from "../core/exit.ts";
import { plain, quota } from "./columns.ts";
import { headOf, isCalled, sheetCells, sheetLine, withDollars } from "./sheet.ts";
import type { Format } from "./format.ts";
import { growingTable, table, type Column } from "./table.ts";

/** Where a command writes, and how: data to `out`, everything else to `note`. */
export interface Output {
  readonly format: Format;
  /** Columns of the terminal; undefined when the output is piped. */
  readonly width: number | undefined;
  /** Those that are asked for, by name; undefined = the usual ones. */
  readonly columns: readonly string[] | undefined;
  readonly hasTitles: boolean;
  /** Units of quota that make a US dollar; asks the gateway. */
  quotaPerUnit(): Promise<number>;
  out(text: string): void;
  note(text: string): void;
}

/** What all rows of a kind have in common. */
export interface Shape<Row> {
  readonly kind: string;
  readonly columns: readonly Column<Row>[];
  /** More of them, for wide tables and csv. */
  readonly wide?: readonly Column<Row>[];
  /** Such as `channel/3`, which commands take for the id. */
  readonly name?: (row: Row) => string;
}

export interface List<Row> extends Shape<Row> {
  readonly rows: readonly Row[];
  /** What to do about an empty list. */
  readonly empty: string;
}

/** True where the output is laid out for reading; false where a program reads it. */
export function isForPeople({ format }: Output): boolean {
  return format === "table" || format === "wide";
}

/** A list in the chosen format; the empty list says what to do about it. */
export async function printList<Row extends object>(output: Output, list: List<Row>): Promise<void> {
  const { rows, empty } = list;
  if (isForPeople(output)) {
    if (rows.length === 0) return output.note(empty);
    return output.out(table(await columnsFor(output, list), rows, output.width, output.hasTitles));
  }
  const printer = await openRows(output, list);
  for (const row of rows) printer.add(row);
  printer.end();
}

/** Rows that are printed as they come. */
export interface RowPrinter<Row> {
  add(row: Row): void;
  /** Closes a document of all rows; nothing else waits for it. */
  end(): void;
}

/** `line` is how people see a row, instead of a table. */
export async function openRows<Row extends object>(
  output: Output,
  shape: Shape<Row>,
  line?: (row: Row) => string,
): Promise<RowPrinter<Row>> {
  const lines = (text: (row: Row) => string) => ({ add: (row: Row) => output.out(text(row)), end: () => undefined });
  const { format } = output;
  switch (format) {
    case "json":
    case "yaml": {
      const write = await documentWriter(output);
      const items: Row[] = [];
      return { add: (row) => void items.push(row), end: () => write({ kind: `${shape.kind}List`, items }) };
    }
    case "jsonl":
      return lines((row) => JSON.stringify(row));
    case "name":
      return lines(nameOf(shape));
    case "raw":
      throw unfit(format);
    case "csv":
      return lines(await sheetOf(output, shape, ","));
    case "tsv":
      return lines(await sheetOf(output, shape, "\t"));
    case "table":
    case "wide":
      if (line && output.columns === undefined) return lines(line);
      return lines(growingTable(await columnsFor(output, shape), output.width, output.hasTitles));
    default:
      return format satisfies never;
  }
}

/** Prints the titles at once, so that an empty list has them too. */
async function sheetOf<Row>(output: Output, shape: Shape<Row>, separator: string): Promise<(row: Row) => string> {
  const columns = await columnsFor(output, shape);
  if (output.hasTitles) output.out(sheetLine(columns.map(headOf), separator));
  return (row) => sheetLine(sheetCells(columns, row), separator);
}

function nameOf<Row>({ name }: Shape<Row>): (row: Row) => string {
  if (name) return name;
  throw unfit("name");
}

function unfit(format: Format): CliError {
  return new CliError(`-o ${format} does not go with this command`, EXIT.usage, "use -o json");
}

async function columnsFor<Row>(output: Output, shape: Shape<Row>): Promise<readonly Column<Row>[]> {
  const { columns: chosen, format } = output;
  const all = [...shape.columns, ...(shape.wide ?? [])];
  if (!chosen && isForPeople(output)) return format === "wide" ? all : shape.columns;
  const hasDollars =
    all.some(({ holds }) => holds === "quota") && (!chosen || chosen.some((name) => /_usd$/i.test(name)));
  const known = hasDollars ? withDollars(all, await output.quotaPerUnit()) : all;
  if (!chosen) return known;
  return chosen.map((name) => {
    const found = known.find((column) => isCalled(column, name));
    if (found) return found;
    const names = known.map(headOf).join(", ");
    throw new CliError(`there is no column ${name}`, EXIT.usage, names === "" ? undefined : `choose among ${names}`);
  });
}

export interface About<Row> {
  /** As in lists of the same things; without it every member is a column. */
  readonly shape?: Shape<Row>;
  /** What people see instead of the members. */
  readonly words?: Readonly<Record<string, unknown>>;
  /** Members that count quota. */
  readonly quotas?: readonly (keyof Row & string)[];
}

/** One object: a document as it is, or lines of names and values. */
export async function printOne<Row extends object>(output: Output, value: Row, about: About<Row> = {}): Promise<void> {
  if (isForPeople(output)) return printWords(output, about.words ?? Object.fromEntries(Object.entries(value)));
  if (output.format === "json" || output.format === "yaml") return (await documentWriter(output))(value);
  const printer = await openRows(output, about.shape ?? membersOf(value, about.quotas));
  printer.add(value);
  printer.end();
}

/** What a change has made: a sentence for people, the object as well for programs. Never fails: the change is done. */
export async function printDone<Row extends object>(
  output: Output,
  value: Row,
  sentence: string,
  shape?: Shape<Row>,
): Promise<void> {
  const isNameless = output.format === "name" && !shape?.name;
  if (!isForPeople(output) && output.format !== "raw" && !isNameless)
    await printOne(output, value, shape ? { shape } : {});
  output.note(sentence);
}

/** The only thing that matters, alone for people and with `-o raw`; the object around it for programs. */
export async function printBare<Row extends object>(
  output: Output,
  bare: string,
  value: Row,
  shape: Shape<Row>,
): Promise<void> {
  if (isForPeople(output) || output.format === "raw") output.out(bare);
  else await printOne(output, value, { shape });
}

function membersOf<Row extends object>(value: Row, quotas: readonly (keyof Row & string)[] = []): Shape<Row> {
  const fields = Object.keys(value) as (keyof Row & string)[];
  const columns = fields.map((field) => {
    const title = field.toUpperCase();
    return quotas.includes(field) ? quota<Row>(title, field) : plain<Row>(title, field);
  });
  return { kind: "", columns };
}

function printWords({ columns, out }: Output, words: Readonly<Record<string, unknown>>): void {
  const slug = (name: string) => name.toLowerCase().replace(/[ -]/g, "_");
  const all = Object.entries(words);
  const shown = (columns ?? []).map((column) => {
    const found = all.find(([name]) => slug(name) === slug(column));
    if (found) return found;
    throw new CliError(
      `there is no column ${column}`,
      EXIT.usage,
      `choose among ${all.map(([name]) => slug(name)).join(", ")}`,
    );
  });
  const lines = columns ? shown : all;
  const longest = Math.max(...lines.map(([name]) => name.length));
  for (const [name, one] of lines) out(`${name.padEnd(longest)}  ${String(one)}`);
}

/** Prints whole documents, in YAML or JSON. */
export async function documentWriter(output: Output): Promise<(document: unknown) => void> {
  if (output.format !== "yaml") return (document) => output.out(JSON.stringify(document, undefined, 2));
  const { stringify } = await import("yaml");
  return (document) => output.out(stringify(document, { lineWidth: 0 }).trimEnd());
}
