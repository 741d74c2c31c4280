import { findHint, formatErrorMessage } from "../../core/problem.ts";
import { printable } from "../../print/printable.ts";
import { FieldProblem, type Form, type Values } from "./form.ts";

/** The actions that a key may trigger on a row. */
export type Action =
  | "enable"
  | "disable"
  | "test"
  | "balance"
  | "copy"
  | "delete"
  | "edit"
  | "undo"
  | "apply"
  | "priority"
  | "weight";

/** Numbers of a row that can be changed in the list. */
export type Amount = Extract<Action, "priority" | "weight">;

export interface Item {
  /** Identifies the row across reloads of the list. */
  readonly key: string;
  /** The name used in questions, such as `channel 3 (azure)`. */
  readonly label: string;
  readonly cells: readonly string[];
  /** Raw values for sorting, so that numbers sort as numbers. */
  readonly values: readonly (string | number)[];
  readonly isOff: boolean;
  readonly actions: readonly Action[];
  /** The text that the key `y` copies. */
  readonly id: string;
  readonly amounts?: Readonly<Record<Amount, number>>;
  /** True if documents manage it; it is then disabled for a time and with a reason. */
  readonly isManaged?: boolean;
  /** Choices for an action, the usual one first: the detail asks which one to use. */
  readonly choices?: Readonly<Partial<Record<Action, readonly string[]>>>;
  /** The change that `undo` would undo, if the row itself knows it. */
  readonly undoes?: string;
  /** The name of what is deleted when this row is applied. */
  readonly deletes?: string;
}

export interface Titles {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly titles: readonly string[];
  readonly numeric: readonly boolean[];
  /** Columns that are never cut. */
  readonly fixed?: readonly boolean[];
  /** How many of the first columns are shown if the user has chosen none. Absent = all. */
  readonly usual?: number;
  /** Its page in the console. */
  readonly page?: string;
  /** Forms by the key that opens them. */
  readonly forms?: Readonly<Partial<Record<FormKey, Form>>>;
  /** The columns of failing calls, if the user has chosen none: what went wrong comes first. */
  readonly failing?: readonly number[];
}

/** `c` creates, `D` disables for a time, `f` filters, `w` writes to a file. */
export type FormKey = "c" | "D" | "f" | "w";

/** Restricts the logs to one channel. */
export interface Scope {
  readonly channel: string;
  readonly label: string;
  readonly isFailing: boolean;
}

type Mode =
  | "list"
  | "filter"
  | "command"
  | "detail"
  | "help"
  | "confirm"
  | "form"
  | "columns"
  | "amount"
  | "choice"
  | "secret";

/** The input for an action. */
export interface Given {
  readonly amount?: number;
  readonly choice?: string;
}

export interface State extends Lasting {
  readonly resource: Titles;
  /** The lists that esc goes back to, the last one first to be shown again. */
  readonly back: readonly State[];
  readonly scope: Scope | undefined;
  /** Filled fields of the filter form. */
  readonly query: Values;
  readonly items: readonly Item[];
  /** The title's text about the rows; "" = their number. */
  readonly summary: string;
  /** Whether the gateway has more rows than were read. */
  readonly isCut: boolean;
  readonly isLoading: boolean;
  readonly chosenKey: string | undefined;
  /** Keys of the rows that an action changes together. */
  readonly marked: readonly string[];
  readonly filter: string;
  /** The text that the gateway searches for if it has more rows than were read. */
  readonly search: string;
  /** How many times the usual number of rows is read. */
  readonly pages: number;
  readonly typed: string;
  readonly sort: { readonly column: number; readonly isDown: boolean } | undefined;
  readonly mode: Mode;
  readonly detail: readonly string[];
  /** First line of a detail or of the help, or the chosen line of columns and choices. */
  readonly offset: number;
  readonly pending: Pending | undefined;
  readonly form: Form | undefined;
  /** Shown once; the key `c` copies it. */
  readonly secret: string;
  readonly isFollowing: boolean;
  /** True while rows are written to a file. */
  readonly isWriting: boolean;
  readonly notice: string;
  readonly problem: string;
}

/** State that survives when another list is opened. */
export interface Lasting {
  readonly isReadOnly: boolean;
  /** Titles of the chosen columns, by list. */
  readonly columns: Readonly<Record<string, readonly string[]>>;
}

/** An action that waits for its answer. */
export interface Pending {
  readonly action: Action;
  readonly items: readonly Item[];
  readonly back: Mode;
  /** The text that must be typed; undefined = `y`. */
  readonly wanted?: string | undefined;
  readonly problem?: string;
}

export type Effect =
  | { readonly type: "load" }
  | { readonly type: "detail"; readonly item: Item }
  | { readonly type: "act"; readonly action: Action; readonly items: readonly Item[]; readonly given?: Given }
  | { readonly type: "copy"; readonly text: string }
  | { readonly type: "browse"; readonly page: string }
  /** Opens the plan of documents, named as on the command line. */
  | { readonly type: "plan"; readonly words: readonly string[] }
  | { readonly type: "send"; readonly form: Form }
  /** Edits the form in an editor. */
  | { readonly type: "draft"; readonly form: Form }
  /** Stores the chosen columns. */
  | { readonly type: "keep" }
  /** Stops the writing of a file. */
  | { readonly type: "stop" }
  | { readonly type: "quit" };

export interface Step {
  readonly state: State;
  readonly effect?: Effect;
}

export function createInitialState(resource: Titles, { isReadOnly, columns }: Lasting): State {
  return {
    resource,
    back: [],
    isReadOnly,
    columns,
    scope: undefined,
    query: {},
    items: [],
    summary: "",
    isCut: false,
    isLoading: true,
    chosenKey: undefined,
    marked: [],
    filter: "",
    search: "",
    pages: 1,
    typed: "",
    sort: undefined,
    mode: "list",
    detail: [],
    offset: 0,
    pending: undefined,
    form: undefined,
    secret: "",
    isFollowing: resource.name === "logs",
    isWriting: false,
    notice: "",
    problem: "",
  };
}

/** More steps back than anyone remembers; each holds the rows of its list. */
const MAX_BACK = 10;

/** Opens another list, from which esc comes back to this one. */
export function openFrom(from: State, next: State): State {
  if (from.resource === next.resource && from.scope === next.scope) return { ...next, back: from.back };
  return { ...next, back: [...from.back, { ...from, back: [], notice: "" }].slice(-MAX_BACK) };
}

/** Returns the list that was left for this one; what was chosen since for all lists stays. */
export function goBack({ back, isReadOnly, columns }: State): State | undefined {
  const last = back.at(-1);
  return last && { ...last, back: back.slice(0, -1), isReadOnly, columns };
}

/** Returns how questions and notices name one row or several. */
export function formatItemsLabel(items: readonly Item[], { name }: Titles): string {
  const [first, ...more] = items;
  return first && more.length === 0 ? first.label : `${items.length} ${name}`;
}

export function findResource<R extends Titles>(resources: readonly R[], word: string): R | undefined {
  return resources.find(({ name, aliases }) => name === word || aliases.includes(word));
}

/** Returns the indexes of the visible columns. */
export function shownColumns({
  resource,
  columns,
  scope,
  query,
}: Pick<State, "resource" | "columns" | "scope" | "query">): readonly number[] {
  const places = resource.titles.map((_, at) => at);
  const chosen = columns[resource.name];
  const shown = places.filter((at) => chosen?.includes(resource.titles[at] ?? ""));
  if (shown.length > 0) return shown;
  const isFailing = scope?.isFailing === true || query["type"] === "error";
  return (isFailing ? resource.failing : undefined) ?? places.slice(0, resource.usual ?? places.length);
}

/** Returns the choices of the waiting action. */
export function listChoices({ pending }: Pick<State, "pending">): readonly string[] {
  return (pending && pending.items[0]?.choices?.[pending.action]) ?? [];
}

/** Returns the rows that match the filter, sorted. */
export function visibleItems(state: State): readonly Item[] {
  const { items, filter, sort } = state;
  const isMatching = createMatcher(filter, shownColumns(state));
  const matching = filter === "" ? items : items.filter(({ cells }) => isMatching(cells));
  if (!sort) return matching;
  const sign = sort.isDown ? -1 : 1;
  return matching.toSorted((a, b) => sign * compare(a.values[sort.column] ?? "", b.values[sort.column] ?? ""));
}

/** Returns a function that tells whether the visible cells of a row contain a text, ignoring case. */
export function createMatcher(text: string, columns: readonly number[]): (cells: readonly string[]) => boolean {
  const word = text.toLowerCase();
  return (cells) =>
    columns
      .map((at) => cells[at])
      .join(" ")
      .toLowerCase()
      .includes(word);
}

function compare(a: string | number, b: string | number): number {
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}

/** Returns the index of the chosen row among the visible ones. */
export function chosenAt(state: State): number {
  return Math.max(
    0,
    visibleItems(state).findIndex(({ key }) => key === state.chosenKey),
  );
}

/** Returns the marked rows that match the filter. */
export function markedItems(state: State): readonly Item[] {
  const keys = new Set(state.marked);
  return visibleItems(state).filter(({ key }) => keys.has(key));
}

interface Arrival {
  readonly isCut: boolean;
  readonly marked?: readonly string[] | undefined;
  readonly summary?: string | undefined;
}

/** Returns the rows that an action applies to: the marked ones, or the chosen one. */
export function meantItems(state: State): readonly Item[] {
  const marked = state.mode === "detail" ? [] : markedItems(state);
  return marked.length > 0 ? marked : visibleItems(state).slice(chosenAt(state), chosenAt(state) + 1);
}

/** Adds rows that arrived; the chosen row stays chosen, and the marks stay unless `marked` sets them. */
export function loaded(
  state: State,
  items: readonly Item[],
  { isCut, marked = state.marked, summary = "" }: Arrival,
): State {
  const keys = new Set(items.map(({ key }) => key));
  const isSame = state.chosenKey !== undefined && keys.has(state.chosenKey);
  return {
    ...state,
    items,
    summary,
    isCut,
    isLoading: false,
    problem: "",
    marked: marked.filter((key) => keys.has(key)),
    ...(isSame ? {} : { chosenKey: items[0]?.key }),
  };
}

/** The part of the state that decides what a list shows. */
export type Wanted = Pick<State, "scope" | "search" | "pages" | "query">;

export function wantedBy({ scope, search, pages, query }: State): Wanted {
  return { scope, search, pages, query };
}

/** Describes what went wrong and how to fix it. */
export function describeError(error: unknown): string {
  const hint = error instanceof FieldProblem ? undefined : findHint(error);
  return printable(hint === undefined ? formatErrorMessage(error) : `${formatErrorMessage(error)}; ${hint}`);
}
