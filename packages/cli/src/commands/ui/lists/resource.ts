import type { Channel } from "@fairway/wire";
import { formatErrorMessage } from "../../../core/problem.ts";
import { formatCell } from "../../../print/columns.ts";
import type { Shape } from "../../../print/output.ts";
import { printable } from "../../../print/printable.ts";
import type { Signs } from "../../../print/signs.ts";
import type { Column } from "../../../print/table.ts";
import type { Rows } from "../../paging.ts";
import { createForm, type Field, type Values } from "../form.ts";
import type { Action, Amount, FormKey, Given, Item, Titles, Wanted } from "../state.ts";

/** How many rows are read at once; the key `m` reads as many again. */
export const LIMIT = 1000;

/** The signed-in user, the names of amounts and types, and how figures are drawn. */
export interface Seen {
  readonly isAdmin: boolean;
  readonly quotaPerUnit: number;
  /** Empty for users, who see no channels. */
  readonly channels: Shape<Channel>;
  readonly signs: Signs;
}

/** A list that the screen can open, with everything it can do to a row. */
export interface Resource extends Titles {
  load(wanted: Wanted): Promise<Loaded>;
  detail(item: Item, width: number): Promise<readonly string[]>;
  /** Runs an action and returns a message about the result. */
  act(items: readonly Item[], action: Action, given?: Given): Promise<string>;
  /** Creates a row from the form; fails with a `FieldProblem` or a refusal that names a field. */
  create?(values: Values): Promise<Made>;
  /** Disables rows as the form says; returns a message about the result. */
  disable?(items: readonly Item[], values: Values): Promise<string>;
  /** Checks the values of the filter form. */
  check?(values: Values): Promise<void>;
  /** Writes rows to the file that the form names. */
  write?(values: Values, rows: WantedRows): Promise<Written>;
}

/** What was created. */
export interface Made {
  readonly notice: string;
  /** Keys and codes, shown once. */
  readonly secret?: string;
}

/** `exists` asks whether the file may be replaced. */
export type Written = { readonly notice: string } | { readonly exists: string };

/** Rows to write: those of the list, or all that match. */
export interface WantedRows {
  readonly wanted: Wanted;
  /** Keys of the rows that the list shows, in its order. */
  readonly keys: readonly string[];
  /** Returns whether the filter of the list shows these cells. */
  readonly isShown: (cells: readonly string[]) => boolean;
  readonly mayReplace: boolean;
  readonly signal: AbortSignal;
  onProgress(rows: number): void;
}

interface Loaded {
  readonly items: Item[];
  readonly isCut: boolean;
  readonly marked: readonly string[] | undefined;
  readonly summary: string | undefined;
}

/** Runs an action on a row; may return a sentence for the user. */
type Act = (given?: Given) => Promise<unknown>;

interface Read<Row> extends Pick<Rows<Row>, "rows" | "isCut"> {
  /** Keys of the rows that are marked at the start. */
  readonly marked?: readonly string[];
  /** The title's text about the rows, if it is more than their number. */
  readonly summary?: string;
}

export interface Definition<Row extends object> {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly page?: string;
  readonly columns: readonly Column<Row>[];
  /** Further columns, shown if the user chooses them. */
  readonly wide?: readonly Column<Row>[] | undefined;
  rows(wanted: Wanted): Promise<Read<Row>>;
  getRowKey(row: Row): string;
  /** The id that people know, if it differs from the key. */
  getRowId?(row: Row): string;
  getRowLabel(row: Row): string;
  isOff?(row: Row): boolean;
  detail?(row: Row, width: number): Promise<readonly string[]>;
  /** The caller handles `edit`, because it leaves the screen. */
  actions?(row: Row): Partial<Record<Action, Act>>;
  amounts?(row: Row): Readonly<Record<Amount, number>>;
  choices?(row: Row): Readonly<Partial<Record<Action, readonly string[]>>>;
  isManaged?(row: Row): boolean;
  undoes?(row: Row): string | undefined;
  deletes?(row: Row): string | undefined;
  /** Runs the action that `actions` names on all rows at once. */
  together?(rows: readonly Row[]): Promise<string>;
  readonly creates?: {
    readonly title: string;
    readonly fields: readonly Omit<Field, "value">[];
    create(values: Values): Promise<Made>;
  };
  readonly disables?: {
    readonly fields: readonly Omit<Field, "value">[];
    disable(row: Row, values: Values): Promise<unknown>;
  };
  readonly filters?: { readonly fields: readonly Omit<Field, "value">[]; check(values: Values): Promise<void> };
  readonly writes?: {
    readonly fields: readonly Omit<Field, "value">[];
    write(values: Values, rows: WantedRows, shown: readonly Row[]): Promise<Written>;
  };
}

export function resource<Row extends object>(definition: Definition<Row>): Resource {
  const { name, aliases, creates, disables, filters, writes, columns: usual, wide = [] } = definition;
  const columns = [...usual, ...wide];
  const seen = new Map<string, Row>();
  const toItem = (row: Row): Item => {
    const item = itemIn(definition, columns, row);
    seen.set(item.key, row);
    return item;
  };
  return {
    name,
    aliases,
    ...(definition.page === undefined ? {} : { page: definition.page }),
    titles: columns.map(({ title }) => title),
    numeric: columns.map(({ isNumber }) => isNumber ?? false),
    fixed: columns.map(({ holds }) => holds === "time"),
    usual: usual.length,
    forms: buildForms(definition),
    async load(wanted) {
      const { rows, isCut, marked, summary } = await definition.rows(wanted);
      seen.clear();
      return { items: rows.map(toItem), isCut, marked, summary };
    },
    async detail({ key }, width) {
      const row = seen.get(key);
      if (!row) return [];
      return (await definition.detail?.(row, width)) ?? formatMembers(row);
    },
    async act(items, action, given) {
      const { together } = definition;
      if (together) return together(items.flatMap(({ key }) => seen.get(key) ?? []));
      return actOnAll(items, action, async ({ key }) => {
        const row = seen.get(key);
        return row && definition.actions?.(row)[action]?.(given);
      });
    },
    ...(creates && { create: creates.create }),
    ...(disables && {
      disable: (items: readonly Item[], values: Values) =>
        actOnAll(items, "disable", async ({ key }) => {
          const row = seen.get(key);
          if (row) await disables.disable(row, values);
          return undefined;
        }),
    }),
    ...(filters && { check: filters.check }),
    ...(writes && {
      write: (values: Values, rows: WantedRows) =>
        writes.write(
          values,
          rows,
          rows.keys.flatMap((key) => seen.get(key) ?? []),
        ),
    }),
  };
}

function itemIn<Row extends object>(definition: Definition<Row>, columns: readonly Column<Row>[], row: Row): Item {
  const { getRowKey, getRowLabel, getRowId = getRowKey } = definition;
  const optional = {
    amounts: definition.amounts?.(row),
    choices: definition.choices?.(row),
    isManaged: definition.isManaged?.(row),
    undoes: definition.undoes?.(row),
    deletes: definition.deletes?.(row),
  };
  return {
    key: getRowKey(row),
    label: printable(getRowLabel(row)),
    cells: columns.map(({ value }) => value(row)),
    values: columns.map((column) => readValue(column, row)),
    isOff: definition.isOff?.(row) ?? false,
    actions: Object.keys(definition.actions?.(row) ?? {}) as Action[],
    id: getRowId(row),
    ...(Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)) as Partial<Item>),
  };
}

function buildForms<Row extends object>({
  name,
  creates,
  disables,
  filters,
  writes,
}: Definition<Row>): NonNullable<Titles["forms"]> {
  const forms: Partial<Record<FormKey, ReturnType<typeof createForm>>> = {};
  if (creates) forms.c = createForm("create", creates.title, creates.fields);
  if (disables) forms.D = createForm("disable", `Disable ${name} for a time`, disables.fields);
  if (filters) forms.f = createForm("filter", `Show only these ${name}`, filters.fields);
  if (writes) forms.w = createForm("write", `Write the rows of ${name} to a file`, writes.fields);
  return forms;
}

/** If there is only one row, its error is thrown. */
function actOnAll(items: readonly Item[], action: Action, act: (item: Item) => Promise<unknown>): Promise<string> {
  const actOn = async (item: Item) => {
    const said = await act(item);
    return typeof said === "string" ? said : `${item.label}: ${action} done`;
  };
  const [first, ...more] = items;
  return first && more.length === 0 ? actOn(first) : actOnEach(items, action, actOn);
}

/** Runs the action on one row after the other; a failure does not stop the others. */
async function actOnEach(
  items: readonly Item[],
  action: Action,
  actOn: (item: Item) => Promise<string>,
): Promise<string> {
  const failures: string[] = [];
  for (const item of items)
    try {
      await actOn(item);
    } catch (error) {
      failures.push(`${item.label}: ${formatErrorMessage(error)}`);
    }
  const [first] = failures;
  const done = `${action} done for ${items.length - failures.length} of ${items.length}`;
  return first === undefined ? done : `! ${done}; ${first}`;
}

function readValue<Row>({ field, value }: Column<Row>, row: Row): string | number {
  const raw = field === undefined ? undefined : row[field];
  return typeof raw === "number" ? raw : value(row);
}

export function formatMembers(row: object): string[] {
  return factLines(Object.entries(row));
}

/**
 * Formats names and values, one per line, with the lines of a long text below its first one; empty values are left out.
 */
export function factLines(facts: readonly (readonly [name: string, value: unknown])[]): string[] {
  const filled = facts.filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const width = Math.max(0, ...filled.map(([name]) => name.length));
  return filled.flatMap(([name, value]) => {
    const [first = "", ...rest] = formatCell(value).split("\n");
    return [`${name.padEnd(width)}  ${first}`, ...rest.map((line) => `${" ".repeat(width)}  ${line}`)];
  });
}
