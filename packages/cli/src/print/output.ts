import { CliError, EXIT } from "../core/exit.ts";
import { plain, quota } from "./columns.ts";
import {
  formatColumnName,
  asDollars,
  asUnits,
  isCalled,
  isTitled,
  sheetCells,
  sheetLine,
  withDollars,
} from "./sheet.ts";
import { isTemplated, type Format } from "./format.ts";
import { hanging } from "./hanging.ts";
import { jsonRows } from "./json-rows.ts";
import type { Cut, RowPrinter } from "./rows.ts";
import { growingTable, prepareWidths, table, type Column } from "./table.ts";
import { loadWidths } from "./width.ts";

/** Where and how a command writes: data to `out`, everything else to `note`. */
export interface Output {
  readonly format: Format;
  /** Columns of the terminal; undefined when the output is piped. */
  readonly width: number | undefined;
  /** Names of the requested columns; undefined = the usual ones. */
  readonly columns: readonly string[] | undefined;
  readonly hasTitles: boolean;
  /** Asks the gateway how many units of quota a US dollar has. */
  quotaPerUnit(): Promise<number>;
  /** Column to sort by; a leading `-` reverses the order; undefined = the order of the gateway. */
  readonly sort?: string | undefined;
  out(text: string): void;
  /** Writes text without a line end. */
  write(text: string): void;
  /** Undefined while the reader of the output keeps up; otherwise a promise to await before writing more. */
  room(): Promise<void> | undefined;
  note(text: string): void;
  /** Stops unless a person, or a script with `--yes` (`isAgreed`), agrees to an action that cannot be undone. */
  confirm(action: string, count: number, isAgreed?: boolean): Promise<void>;
}

/** How rows of a kind are printed. */
export interface Shape<Row> {
  readonly kind: string;
  readonly columns: readonly Column<Row>[];
  /** Further columns, for wide tables and csv. */
  readonly wide?: readonly Column<Row>[];
  /** A name such as `channel/3`, which commands accept as the id. */
  readonly name?: (row: Row) => string;
}

export interface List<Row> extends Shape<Row> {
  readonly rows: readonly Row[];
  /** True if the gateway has more rows; a note says so. */
  readonly isCut?: boolean;
  /** The number of all rows, if it is known. */
  readonly total?: number | undefined;
  /** The requested page, if it is not the first. */
  readonly page?: number;
  /** The part to print after sorting, if `rows` are all rows. */
  readonly part?: { readonly limit: number; readonly page?: number };
  /** The hint for an empty list. */
  readonly empty: string;
}

/** True if the output is laid out for people; false if a program reads it. */
export function isForPeople({ format }: Pick<Output, "format">): boolean {
  return format === "table" || format === "wide";
}

/** Prints a list in the chosen format; an empty list says what to do about it. */
export async function printList<Row extends object>(output: Output, list: List<Row>): Promise<void> {
  const { rows, cut } = sortAndCut(output, list);
  if (isForPeople(output)) {
    if (rows.length === 0) return output.note(list.empty);
    const columns = await columnsFor(output, list);
    await prepareWidths(columns, rows);
    output.out(table(columns, rows, findTableWidth(output), output.hasTitles));
    return noteCut(output, rows.length, cut);
  }
  const printer = await openRows({ ...output, sort: undefined }, list);
  for (const row of rows) printer.add(row);
  printer.end(cut);
  noteCut(output, rows.length, cut);
}

/** Sorts before cutting, so that `--limit 5` shows the first five of all rows. */
function sortAndCut<Row>({ sort }: Output, list: List<Row>): { readonly rows: readonly Row[]; readonly cut: Cut } {
  const sorted = sort === undefined ? list.rows : rowsBy(sort, list, list.rows);
  if (!list.part) return { rows: sorted, cut: list };
  const { limit, page = 1 } = list.part;
  const offset = page === 1 ? 0 : (page - 1) * limit;
  const rows = sorted.slice(offset, offset + limit);
  const isCut = offset + rows.length < sorted.length;
  return { rows, cut: { isCut, total: sorted.length, ...(page > 1 && { page }) } };
}

/** Says on standard error that a list is not complete. */
export function noteCut(output: Output, shown: number, { isCut, total, page }: Cut): void {
  if (page !== undefined) {
    const rows = total === undefined ? `${shown} rows` : `${shown} of ${total} rows`;
    return output.note(`Page ${page}, ${rows}; ${isCut ? `--page ${page + 1} lists the next.` : "the last."}`);
  }
  if (!isCut) return;
  const count = total === undefined ? `The first ${shown} rows` : `${shown} of ${total} rows`;
  output.note(`${count} are listed; --limit all lists the others too.`);
}

/** Opens a printer of rows; `line` formats a row for people, instead of a table. */
export async function openRows<Row extends object>(
  output: Output,
  shape: Shape<Row>,
  line?: (row: Row) => string,
): Promise<RowPrinter<Row>> {
  const { format, sort } = output;
  if (sort !== undefined) return sortedRows(output, shape, sort);
  if (isTemplated(format)) {
    await loadWidths();
    return (await import("./template.ts")).templateRows(output, shape.kind, format);
  }
  if (isForPeople(output)) return lineRows(output, await peopleLines(output, shape, line));
  const lines = (text: (row: Row) => string) => lineRows(output, text);
  switch (format) {
    case "json":
      return jsonRows(output, shape.kind);
    case "yaml":
      return (await import("./yaml-rows.ts")).yamlRows(output, shape.kind);
    case "jsonl":
      return lines((row) => JSON.stringify(row));
    case "name":
      return lines(requireNameFormatter(shape));
    case "csv":
      return lines(await createSheetFormatter(output, shape, ","));
    case "tsv":
      return lines(await createSheetFormatter(output, shape, "\t"));
    default:
      throw unfit(format);
  }
}

function lineRows<Row>({ out }: Output, text: (row: Row) => string): RowPrinter<Row> {
  return { add: (row) => out(text(row)), end: () => undefined };
}

async function peopleLines<Row>(output: Output, shape: Shape<Row>, line: ((row: Row) => string) | undefined) {
  if (line && output.columns === undefined) return line;
  await loadWidths();
  return growingTable(await columnsFor(output, shape), findTableWidth(output), output.hasTitles);
}

/** A wide table is never cut. */
function findTableWidth({ format, width }: Output): number | undefined {
  return format === "wide" ? undefined : width;
}

/** Collects all rows, because the last one may be the first after sorting. */
async function sortedRows<Row extends object>(
  output: Output,
  shape: Shape<Row>,
  sort: string,
): Promise<RowPrinter<Row>> {
  const printer = await openRows({ ...output, sort: undefined }, shape);
  const rows: Row[] = [];
  checkSortColumn({ ...output, sort }, shape);
  return {
    add: (row) => void rows.push(row),
    end: (cut) => {
      for (const row of rowsBy(sort, shape, rows)) printer.add(row);
      printer.end(cut);
    },
  };
}

/** Sorts rows by a column, numerically if it holds numbers; a leading `-` reverses the order. */
function rowsBy<Row>(sort: string, { columns, wide = [] }: Shape<Row>, rows: readonly Row[]): readonly Row[] {
  const name = sort.replace(/^-/, "");
  const column = [...columns, ...wide].find((one) => isCalled(one, name));
  if (!column) throw noColumn(name, [...columns, ...wide].map(formatColumnName));
  const readValue = (row: Row): string | number => {
    const raw: unknown = column.field === undefined ? undefined : row[column.field];
    return typeof raw === "number" ? raw : column.value(row);
  };
  const sign = sort.startsWith("-") ? -1 : 1;
  return rows.toSorted((a, b) => sign * inOrder(readValue(a), readValue(b)));
}

/** Refuses a sort by a column that the list does not have. */
export function checkSortColumn<Row>({ sort }: Output, shape: Shape<Row>): void {
  if (sort !== undefined) rowsBy(sort, shape, []);
}

function inOrder(a: string | number, b: string | number): number {
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}

function noColumn(name: string, known: readonly string[]): CliError {
  const hint = known.length === 0 ? undefined : `choose among ${[...new Set(known)].join(", ")}`;
  return new CliError(`there is no column ${name}`, EXIT.usage, hint);
}

/** Prints the titles at once, so that an empty list has them too. */
async function createSheetFormatter<Row>(
  output: Output,
  shape: Shape<Row>,
  separator: string,
): Promise<(row: Row) => string> {
  const columns = await columnsFor(output, shape);
  if (output.hasTitles) output.out(sheetLine(columns.map(formatColumnName), separator));
  return (row) => sheetLine(sheetCells(columns, row), separator);
}

function requireNameFormatter<Row>({ name }: Shape<Row>): (row: Row) => string {
  if (name) return name;
  throw unfit("name");
}

function unfit(format: Format): CliError {
  return new CliError(`-o ${format} does not go with this command`, EXIT.usage, "use -o json");
}

async function columnsFor<Row>(output: Output, shape: Shape<Row>): Promise<readonly Column<Row>[]> {
  const { columns: chosen, format } = output;
  const all = [...shape.columns, ...(shape.wide ?? [])];
  const usual = chosen || format !== "table" ? all : shape.columns;
  const known = await withMoney(output, usual);
  if (!chosen) return known;
  return chosen.map((name) => {
    // Programs use the name of the API, people the title.
    const isMeant = (column: Column<Row>) =>
      isForPeople(output) ? isTitled(column, name) : formatColumnName(column) === name;
    const found = known.find(isMeant) ?? known.find((column) => isCalled(column, name));
    if (found) return found;
    throw noColumn(name, known.map(formatColumnName));
  });
}

/** People read dollars, wide tables add the units of quota, and sheets have both. */
async function withMoney<Row>(output: Output, columns: readonly Column<Row>[]): Promise<readonly Column<Row>[]> {
  const { columns: chosen, format } = output;
  if (!columns.some(({ holds }) => holds === "quota")) return columns;
  if (isForPeople(output)) {
    const shown = asDollars(columns, await output.quotaPerUnit());
    return format === "wide" || chosen
      ? [...shown, ...columns.filter(({ holds }) => holds === "quota").map(asUnits)]
      : shown;
  }
  const isAsked = !chosen || chosen.some((name) => /_usd$/i.test(name));
  return isAsked ? withDollars(columns, await output.quotaPerUnit()) : columns;
}

export interface About<Row> {
  /** The shape of lists of the same kind; without it every member is a column. */
  readonly shape?: Shape<Row>;
  /** The labels shown instead of the members. */
  readonly words?: Readonly<Record<string, unknown>>;
  /** Members that count quota. */
  readonly quotas?: readonly (keyof Row & string)[];
}

/** Prints one object: a document as it is, or lines of names and values. */
export async function printOne<Row extends object>(output: Output, value: Row, about: About<Row> = {}): Promise<void> {
  if (isForPeople(output)) return printWords(output, about.words ?? Object.fromEntries(Object.entries(value)));
  if (output.format === "json" || output.format === "yaml") return (await documentWriter(output))(value);
  if (isTemplated(output.format)) {
    await loadWidths();
    return (await import("./template.ts")).printTemplate(output, value, output.format);
  }
  const printer = await openRows(output, about.shape ?? buildMemberShape(value, about.quotas));
  printer.add(value);
  printer.end();
}

/**
 * Prints the result of a change: a sentence for people, the object for programs. Never fails, because the change is
 * done.
 */
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

/** Prints the main value alone for people and with `-o raw`, and the whole object for programs. */
export async function printBare<Row extends object>(
  output: Output,
  bare: string,
  value: Row,
  shape: Shape<Row>,
): Promise<void> {
  if (isForPeople(output) || output.format === "raw") output.out(bare);
  else await printOne(output, value, { shape });
}

function buildMemberShape<Row extends object>(value: Row, quotas: readonly (keyof Row & string)[] = []): Shape<Row> {
  const fields = Object.keys(value) as (keyof Row & string)[];
  const columns = fields.map((field) => {
    const title = field.toUpperCase();
    return quotas.includes(field) ? quota<Row>(title, field) : plain<Row>(title, field);
  });
  return { kind: "", columns };
}

function printWords({ columns, out, width }: Output, words: Readonly<Record<string, unknown>>): void {
  const slug = (name: string) => name.toLowerCase().replace(/[ -]/g, "_");
  const all = Object.entries(words);
  const shown = (columns ?? []).map((column) => {
    const found = all.find(([name]) => slug(name) === slug(column));
    if (found) return found;
    throw noColumn(
      column,
      all.map(([name]) => slug(name)),
    );
  });
  const lines = columns ? shown : all;
  const longest = Math.max(...lines.map(([name]) => name.length));
  for (const [name, one] of lines) out(hanging(name.padEnd(longest + 2), String(one), width));
}

/** Returns a function that prints whole documents, in YAML or JSON. */
export async function documentWriter(output: Output): Promise<(document: unknown) => void> {
  if (output.format !== "yaml") return (document) => output.out(JSON.stringify(document, undefined, 2));
  const { stringify } = await import("yaml");
  return (document) => output.out(stringify(document, { lineWidth: 0 }).trimEnd());
}
