import { messageOf } from "../../core/problem.ts";
import { cellOf } from "../../print/columns.ts";
import { printable } from "../../print/printable.ts";
import type { Column } from "../../print/table.ts";
import type { Rows } from "../paging.ts";
import type { Action, Item, State, Titles } from "./state.ts";

/** A list that the screen can open, with everything it can do to a row. */
export interface Resource extends Titles {
  load(wanted: Wanted): Promise<Loaded>;
  detail(item: Item, width: number): Promise<readonly string[]>;
  /** Answers what came of it. */
  act(items: readonly Item[], action: Action): Promise<string>;
}

/** The part of the state that decides what a list shows. */
type Wanted = Pick<State, "scope" | "search" | "pages">;

interface Loaded {
  readonly items: Item[];
  readonly isCut: boolean;
  readonly marked: readonly string[] | undefined;
}

interface Definition<Row extends object> {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly page?: string;
  readonly columns: readonly Column<Row>[];
  /** `marked` has the keys of the rows that are marked from the beginning. */
  rows(wanted: Wanted): Promise<Pick<Rows<Row>, "rows" | "isCut"> & { readonly marked?: readonly string[] }>;
  keyOf(row: Row): string;
  /** The id that people know, where it is another. */
  idOf?(row: Row): string;
  labelOf(row: Row): string;
  isOff?(row: Row): boolean;
  detail?(row: Row, width: number): Promise<readonly string[]>;
  /** `edit` is the caller's: it leaves the screen. */
  actions?(row: Row): Partial<Record<Action, () => Promise<unknown>>>;
  /** Does to all rows at once what `actions` names. */
  together?(rows: readonly Row[]): Promise<string>;
}

export function resource<Row extends object>(definition: Definition<Row>): Resource {
  const { name, aliases, columns } = definition;
  const seen = new Map<string, Row>();
  const itemOf = (row: Row): Item => {
    const key = definition.keyOf(row);
    seen.set(key, row);
    return {
      key,
      label: printable(definition.labelOf(row)),
      cells: columns.map(({ value }) => value(row)),
      values: columns.map((column) => valueOf(column, row)),
      isOff: definition.isOff?.(row) ?? false,
      actions: Object.keys(definition.actions?.(row) ?? {}) as Action[],
      id: definition.idOf?.(row) ?? key,
    };
  };
  return {
    name,
    aliases,
    ...(definition.page === undefined ? {} : { page: definition.page }),
    titles: columns.map(({ title }) => title),
    numeric: columns.map(({ isNumber }) => isNumber ?? false),
    fixed: columns.map(({ holds }) => holds === "time"),
    async load(wanted) {
      const { rows, isCut, marked } = await definition.rows(wanted);
      seen.clear();
      return { items: rows.map(itemOf), isCut, marked };
    },
    async detail({ key }, width) {
      const row = seen.get(key);
      if (!row) return [];
      return (await definition.detail?.(row, width)) ?? membersOf(row);
    },
    async act(items, action) {
      const { together } = definition;
      if (together) return together(items.flatMap(({ key }) => seen.get(key) ?? []));
      const actOn = async ({ key, label }: Item) => {
        const row = seen.get(key);
        const said = row && (await definition.actions?.(row)[action]?.());
        return typeof said === "string" ? said : `${label}: ${action} done`;
      };
      const [first, ...more] = items;
      return first && more.length === 0 ? actOn(first) : actOnEach(items, action, actOn);
    },
  };
}

/** One after the other; what fails does not stop the others. */
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
      failures.push(`${item.label}: ${messageOf(error)}`);
    }
  const [first] = failures;
  const done = `${action} done for ${items.length - failures.length} of ${items.length}`;
  return first === undefined ? done : `! ${done}; ${first}`;
}

function valueOf<Row>({ field, value }: Column<Row>, row: Row): string | number {
  const raw = field === undefined ? undefined : row[field];
  return typeof raw === "number" ? raw : value(row);
}

export function membersOf(row: object): string[] {
  const members = Object.entries(row).filter(([, value]) => value !== "" && value !== null);
  const width = Math.max(0, ...members.map(([name]) => name.length));
  return members.flatMap(([name, value]) => {
    const [first = "", ...rest] = cellOf(value).split("\n");
    return [`${name.padEnd(width)}  ${first}`, ...rest.map((line) => `${" ".repeat(width)}  ${line}`)];
  });
}
