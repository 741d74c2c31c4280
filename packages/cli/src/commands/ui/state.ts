/** The actions that a key may trigger on a row. */
export type Action = "enable" | "disable" | "test" | "copy" | "delete" | "edit";

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
}

export interface Titles {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly titles: readonly string[];
  readonly numeric: readonly boolean[];
  /** Columns that are never cut. */
  readonly fixed?: readonly boolean[];
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
  readonly pending: { readonly action: Action; readonly item: Item; readonly back: Mode } | undefined;
  readonly isFollowing: boolean;
  readonly isReadOnly: boolean;
  readonly notice: string;
  readonly problem: string;
}

export type Effect =
  | { readonly type: "load" }
  | { readonly type: "detail"; readonly item: Item }
  | { readonly type: "act"; readonly action: Action; readonly item: Item }
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
  if (state.mode === "help") return { state: { ...state, mode: "list" } };
  return pressCommon(state, key, rows) ?? (state.mode === "detail" ? pressDetail : pressList)(state, key);
}

function pressText(state: State, key: string, resources: readonly Titles[]): Step {
  const { mode, typed } = state;
  const withText = (text: string): Step => ({
    state: { ...state, typed: text, ...(mode === "filter" ? { filter: text } : {}) },
  });
  if (key === "escape")
    return { state: { ...state, mode: "list", typed: "", ...(mode === "filter" && { filter: "" }) } };
  if (key === "backspace") return withText(typed.slice(0, -1));
  if (key !== "enter") return key.length === 1 ? withText(typed + key) : { state };
  const closed: State = { ...state, mode: "list", typed: "" };
  if (mode === "filter")
    return state.isCut && typed !== ""
      ? { state: { ...closed, search: typed, isLoading: true }, effect: { type: "load" } }
      : { state: closed };
  const word = typed.trim();
  if (word === "q" || word === "quit") return { state: closed, effect: { type: "quit" } };
  const resource = findResource(resources, word);
  const names = resources.map(({ name }) => name).join(", ");
  if (!resource) return { state: { ...closed, notice: `There is no resource ${word}: use ${names}.` } };
  return { state: startOf(resource, state.isReadOnly), effect: { type: "load" } };
}

function pressAnswer(state: State, key: string): Step {
  const { pending } = state;
  const back: State = { ...state, mode: pending?.back ?? "list", pending: undefined };
  if (!pending || key.toLowerCase() !== "y") return { state: { ...back, notice: "Nothing was changed." } };
  return run(back, pending.action, pending.item);
}

function run(state: State, action: Action, item: Item): Step {
  return { state: { ...state, notice: `${action} ${item.label} …` }, effect: { type: "act", action, item } };
}

const ACTION_OF: Readonly<Record<string, Action>> = {
  e: "enable",
  d: "disable",
  t: "test",
  c: "copy",
  x: "delete",
  E: "edit",
};

function pressCommon(state: State, key: string, rows: number): Step | undefined {
  const by = stepOf(key, rows);
  if (by !== undefined) return { state: moved(state, by) };
  if (key === "?") return { state: { ...state, mode: "help" } };
  if (key === ":") return { state: { ...state, mode: "command", typed: "", notice: "" } };
  const action = ACTION_OF[key];
  return action && pressAction(state, action);
}

function stepOf(key: string, rows: number): number | undefined {
  if (key === "up" || key === "k") return -1;
  if (key === "down" || key === "j") return 1;
  if (key === "pageup") return -rows;
  if (key === "pagedown") return rows;
  if (key === "g") return Number.NEGATIVE_INFINITY;
  return key === "G" ? Number.POSITIVE_INFINITY : undefined;
}

function moved(state: State, by: number): State {
  const count = state.mode === "detail" ? state.detail.length : visibleItems(state).length;
  const from = state.mode === "detail" ? state.offset : chosenAt(state);
  const to = Math.max(0, Math.min(count - 1, from + by));
  return state.mode === "detail" ? { ...state, offset: to } : { ...state, chosenKey: visibleItems(state)[to]?.key };
}

function pressAction(state: State, action: Action): Step {
  const item = visibleItems(state)[chosenAt(state)];
  if (!item) return { state };
  if (state.isReadOnly) return { state: { ...state, notice: "This screen is read-only." } };
  if (!item.actions.includes(action)) return { state: { ...state, notice: `${item.label} has no ${action}.` } };
  if (action === "test" || action === "edit") return run(state, action, item);
  return { state: { ...state, mode: "confirm", pending: { action, item, back: state.mode } } };
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

/** Rows that arrived; the chosen row stays chosen. */
export function loaded(state: State, items: readonly Item[], isCut: boolean): State {
  const isSame = items.some(({ key }) => key === state.chosenKey);
  return { ...state, items, isCut, isLoading: false, problem: "", ...(isSame ? {} : { chosenKey: items[0]?.key }) };
}
