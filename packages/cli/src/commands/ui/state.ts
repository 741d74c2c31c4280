import { helpOf } from "./help.ts";

/** The actions that a key may trigger on a row. */
export type Action = "enable" | "disable" | "test" | "copy" | "delete" | "edit" | "undo" | "apply";

export interface Item {
  /** Identifies the row while the list is read again. */
  readonly key: string;
  /** The name used in questions, such as `channel 3 (azure)`. */
  readonly label: string;
  readonly cells: readonly string[];
  /** Sorts numbers as numbers. */
  readonly values: readonly (string | number)[];
  readonly isOff: boolean;
  readonly actions: readonly Action[];
  /** What the key `y` copies. */
  readonly id: string;
}

export interface Titles {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly titles: readonly string[];
  readonly numeric: readonly boolean[];
  /** Columns that are never cut. */
  readonly fixed?: readonly boolean[];
  /** Its page in the console. */
  readonly page?: string;
}

/** Restricts the logs to one channel. */
interface Scope {
  readonly channel: string;
  readonly label: string;
  readonly isFailing: boolean;
}

type Mode = "list" | "filter" | "command" | "detail" | "help" | "confirm";

export interface State {
  readonly resource: Titles;
  readonly scope: Scope | undefined;
  readonly items: readonly Item[];
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
  readonly offset: number;
  readonly pending: Pending | undefined;
  readonly isFollowing: boolean;
  readonly isReadOnly: boolean;
  readonly notice: string;
  readonly problem: string;
}

/** An action that waits for its answer. */
interface Pending {
  readonly action: Action;
  readonly items: readonly Item[];
  readonly back: Mode;
}

export type Effect =
  | { readonly type: "load" }
  | { readonly type: "detail"; readonly item: Item }
  | { readonly type: "act"; readonly action: Action; readonly items: readonly Item[] }
  | { readonly type: "copy"; readonly text: string }
  | { readonly type: "browse"; readonly page: string }
  /** Opens the plan of documents, named as on the command line. */
  | { readonly type: "plan"; readonly words: readonly string[] }
  | { readonly type: "quit" };

export interface Step {
  readonly state: State;
  readonly effect?: Effect;
}

export function startOf(resource: Titles, isReadOnly: boolean): State {
  return {
    resource,
    scope: undefined,
    items: [],
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
    isFollowing: resource.name === "logs",
    isReadOnly,
    notice: "",
    problem: "",
  };
}

/** How questions and notices name one row or several. */
export function labelOf(items: readonly Item[], { name }: Titles): string {
  const [first, ...more] = items;
  return first && more.length === 0 ? first.label : `${items.length} ${name}`;
}

export function findResource<R extends Titles>(resources: readonly R[], word: string): R | undefined {
  return resources.find(({ name, aliases }) => name === word || aliases.includes(word));
}

/** The rows that match the filter, sorted. */
export function visibleItems({ items, filter, sort }: State): readonly Item[] {
  const word = filter.toLowerCase();
  const matching = word === "" ? items : items.filter(({ cells }) => cells.join(" ").toLowerCase().includes(word));
  if (!sort) return matching;
  const sign = sort.isDown ? -1 : 1;
  return matching.toSorted((a, b) => sign * compare(a.values[sort.column] ?? "", b.values[sort.column] ?? ""));
}

function compare(a: string | number, b: string | number): number {
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}

/** Position of the chosen row among the visible ones. */
export function chosenAt(state: State): number {
  return Math.max(
    0,
    visibleItems(state).findIndex(({ key }) => key === state.chosenKey),
  );
}

/** Handles a key. `rows` is the height of a page. */
export function press(state: State, key: string, resources: readonly Titles[], rows: number): Step {
  if (state.mode === "filter" || state.mode === "command") return pressText(state, key, resources);
  if (state.mode === "confirm") return pressAnswer(state, key);
  if (state.mode === "help") return pressHelp(state, key, rows);
  return pressCommon(state, key, rows) ?? (state.mode === "detail" ? pressDetail : pressList)(state, key);
}

function pressText(state: State, key: string, resources: readonly Titles[]): Step {
  const { mode, typed } = state;
  const withText = (text: string): Step => ({
    state: { ...state, typed: text, ...(mode === "filter" ? { filter: text } : {}) },
  });
  if (key === "escape")
    return { state: { ...state, mode: "list", typed: "", ...(mode === "filter" && { filter: "" }) } };
  if (key === "backspace") return withText(Array.from(typed).slice(0, -1).join(""));
  if (key !== "enter") return Array.from(key).length === 1 && key >= " " ? withText(typed + key) : { state };
  const closed: State = { ...state, mode: "list", typed: "" };
  if (mode === "command") return runCommand(closed, typed, resources);
  return state.isCut && typed !== ""
    ? { state: { ...closed, search: typed, isLoading: true }, effect: { type: "load" } }
    : { state: closed };
}

function runCommand(closed: State, typed: string, resources: readonly Titles[]): Step {
  const [word = "", ...words] = typed.trim().split(/\s+/);
  if (word === "apply") return openPlan(closed, words);
  if (word === "q" || word === "quit") return { state: closed, effect: { type: "quit" } };
  const resource = findResource(resources, word);
  const names = resources.map(({ name }) => name).join(", ");
  if (!resource) return { state: { ...closed, notice: `There is no resource ${word}: use ${names}.` } };
  return { state: startOf(resource, closed.isReadOnly), effect: { type: "load" } };
}

function openPlan(state: State, words: readonly string[]): Step {
  if (words.length === 0) return { state: { ...state, notice: "Name files or folders: :apply channels.yaml" } };
  return { state: { ...state, notice: `Comparing ${words.join(" ")} …` }, effect: { type: "plan", words } };
}

function pressAnswer(state: State, key: string): Step {
  const { pending } = state;
  const back: State = { ...state, mode: pending?.back ?? "list", pending: undefined, typed: "" };
  const unchanged: Step = { state: { ...back, notice: "Nothing was changed." } };
  if (!pending) return unchanged;
  const { action, items } = pending;
  if (!isCounted(pending)) return key.toLowerCase() === "y" ? run(back, action, items) : unchanged;
  if (/^\d$/.test(key)) return { state: { ...state, typed: state.typed + key } };
  return key === "enter" && Number(state.typed) === items.length ? run(back, action, items) : unchanged;
}

/** Several rows are deleted only after their number is typed. */
export function isCounted({ action, items }: Pending): boolean {
  return action === "delete" && items.length > 1;
}

function run(state: State, action: Action, items: readonly Item[]): Step {
  const notice = `${action} ${labelOf(items, state.resource)} …`;
  return { state: { ...state, notice, marked: [] }, effect: { type: "act", action, items } };
}

const ACTION_OF: Readonly<Record<string, Action>> = {
  e: "enable",
  d: "disable",
  t: "test",
  c: "copy",
  x: "delete",
  E: "edit",
  u: "undo",
  a: "apply",
};

function pressCommon(state: State, key: string, rows: number): Step | undefined {
  const by = stepOf(key, rows);
  if (by !== undefined) return { state: moved(state, by) };
  if (key === "?") return { state: { ...state, mode: "help", offset: 0 } };
  if (key === ":") return { state: { ...state, mode: "command", typed: "", notice: "" } };
  if (key === "y" || key === "o") return pressOutside(state, key);
  const action = ACTION_OF[key];
  return action && pressAction(state, action);
}

/** What leaves the screen: the id to the clipboard, the page to the browser. */
function pressOutside(state: State, key: "y" | "o"): Step {
  const item = visibleItems(state)[chosenAt(state)];
  const { page } = state.resource;
  if (key === "o")
    return page === undefined
      ? { state: { ...state, notice: `The console has no page for ${state.resource.name}.` } }
      : { state, effect: { type: "browse", page } };
  return item ? { state, effect: { type: "copy", text: item.id } } : { state };
}

function stepOf(key: string, rows: number): number | undefined {
  if (key === "up" || key === "k") return -1;
  if (key === "down" || key === "j") return 1;
  if (key === "pageup") return -rows;
  if (key === "pagedown") return rows;
  if (key === "g") return Number.NEGATIVE_INFINITY;
  return key === "G" ? Number.POSITIVE_INFINITY : undefined;
}

function pressHelp(state: State, key: string, rows: number): Step {
  const by = stepOf(key, rows);
  if (by === undefined) return { state: { ...state, mode: "list", offset: 0 } };
  const last = helpOf(state.isReadOnly).length - 1;
  return { state: { ...state, offset: Math.max(0, Math.min(last, state.offset + by)) } };
}

function moved(state: State, by: number): State {
  const count = state.mode === "detail" ? state.detail.length : visibleItems(state).length;
  const from = state.mode === "detail" ? state.offset : chosenAt(state);
  const to = Math.max(0, Math.min(count - 1, from + by));
  return state.mode === "detail" ? { ...state, offset: to } : { ...state, chosenKey: visibleItems(state)[to]?.key };
}

function pressAction(state: State, action: Action): Step {
  const chosen = visibleItems(state)[chosenAt(state)];
  if (!chosen) return { state };
  if (state.isReadOnly) return { state: { ...state, notice: "This screen is read-only." } };
  const marked = state.mode === "list" && action !== "edit" ? markedItems(state) : [];
  const items = (marked.length > 0 ? marked : [chosen]).filter(({ actions }) => actions.includes(action));
  if (items.length === 0)
    return { state: { ...state, notice: `${labelOf([chosen], state.resource)} has no ${action}.` } };
  // The detail lists the change that would be undone.
  if (action === "undo" && state.mode === "list") return openDetail(state);
  if (action === "test" || action === "edit") return run(state, action, items);
  return { state: { ...state, mode: "confirm", typed: "", pending: { action, items, back: state.mode } } };
}

/** Marked rows that the filter shows. */
export function markedItems(state: State): readonly Item[] {
  const keys = new Set(state.marked);
  return visibleItems(state).filter(({ key }) => keys.has(key));
}

function toggleMark(state: State): Step {
  const item = visibleItems(state)[chosenAt(state)];
  if (!item) return { state };
  if (item.actions.length === 0) return { state: { ...state, notice: `Nothing can be done to ${item.label}.` } };
  const { key } = item;
  const marked = state.marked.includes(key) ? state.marked.filter((one) => one !== key) : [...state.marked, key];
  return { state: { ...moved(state, 1), marked } };
}

function pressDetail(state: State, key: string): Step {
  return key === "escape" || key === "q" ? { state: { ...state, mode: "list", detail: [], offset: 0 } } : { state };
}

function pressList(state: State, key: string): Step {
  if (key === "q") return { state, effect: { type: "quit" } };
  if (key === "escape") return leaveFilter(state);
  if (key === "r") return { state: { ...state, isLoading: true, notice: "" }, effect: { type: "load" } };
  if (key === "m" && state.isCut)
    return { state: { ...state, pages: state.pages + 1, isLoading: true }, effect: { type: "load" } };
  if (key === "enter") return openDetail(state);
  if (key === " ") return toggleMark(state);
  return { state: { ...state, ...LIST_KEYS[key]?.(state) } };
}

/** Keys that only change what is shown. */
const LIST_KEYS: Readonly<Record<string, (state: State) => Partial<State>>> = {
  "/": ({ filter }) => ({ mode: "filter", typed: filter, notice: "" }),
  s: (state) => ({ sort: nextSort(state) }),
  S: ({ sort }) => ({ sort: sort && { ...sort, isDown: !sort.isDown } }),
  f: ({ resource, isFollowing }) => ({ isFollowing: resource.name === "logs" && !isFollowing }),
};

function leaveFilter(state: State): Step {
  if (state.search !== "")
    return { state: { ...state, filter: "", search: "", isLoading: true }, effect: { type: "load" } };
  if (state.filter === "" && state.marked.length > 0) return { state: { ...state, marked: [] } };
  if (state.filter !== "" || !state.scope) return { state: { ...state, filter: "", notice: "" } };
  return { state: { ...state, scope: undefined, items: [], isLoading: true }, effect: { type: "load" } };
}

function openDetail(state: State): Step {
  const item = visibleItems(state)[chosenAt(state)];
  if (!item) return { state };
  return {
    state: { ...state, chosenKey: item.key, notice: `Reading ${item.label} …` },
    effect: { type: "detail", item },
  };
}

function nextSort({ sort, resource }: State): State["sort"] {
  const column = (sort?.column ?? -1) + 1;
  return column < resource.titles.length ? { column, isDown: false } : undefined;
}

/** The calls of the chosen channel: `l` the failing ones, `L` all of them. */
export function openCalls(state: State, key: string, resources: readonly Titles[]): Step | undefined {
  const logs = findResource(resources, "logs");
  const item = visibleItems(state)[chosenAt(state)];
  const isList = state.mode === "list" && state.resource.name === "channels";
  if (!isList || !logs || !item || (key !== "l" && key !== "L")) return undefined;
  const scope: Scope = { channel: item.key, label: item.label, isFailing: key === "l" };
  return { state: { ...startOf(logs, state.isReadOnly), scope }, effect: { type: "load" } };
}

/** Rows that arrived; the chosen row stays chosen, and the marks stay unless `marked` sets them. */
export function loaded(
  state: State,
  items: readonly Item[],
  { isCut, marked = state.marked }: { readonly isCut: boolean; readonly marked?: readonly string[] | undefined },
): State {
  const keys = new Set(items.map(({ key }) => key));
  const isSame = state.chosenKey !== undefined && keys.has(state.chosenKey);
  return {
    ...state,
    items,
    isCut,
    isLoading: false,
    problem: "",
    marked: marked.filter((key) => keys.has(key)),
    ...(isSame ? {} : { chosenKey: items[0]?.key }),
  };
}
