import {
  pressAmount,
  pressAnswer,
  pressChoice,
  pressColumns,
  pressFormKeys,
  pressSecret,
  pressText,
} from "./answers.ts";
import { filledWith } from "./form.ts";
import { listHelpLines } from "./help.ts";
import {
  chosenAt,
  findResource,
  formatItemsLabel,
  goBack,
  markedItems,
  openFrom,
  shownColumns,
  createInitialState,
  visibleItems,
  type Action,
  type FormKey,
  type Item,
  type Pending,
  type Scope,
  type State,
  type Step,
  type Titles,
} from "./state.ts";

/** Handles a key. `rows` is the height of a page. */
export function press(state: State, key: string, resources: readonly Titles[], rows: number): Step {
  switch (state.mode) {
    case "filter":
    case "command":
      return pressText(state, key, resources);
    case "confirm":
      return pressAnswer(state, key);
    case "amount":
      return pressAmount(state, key);
    case "choice":
      return pressChoice(state, key, findStep(key, rows));
    case "columns":
      return pressColumns(state, key, findStep(key, rows));
    case "form":
      return pressFormKeys(state, key);
    case "secret":
      return pressSecret(state, key);
    case "help":
      return pressHelp(state, key, rows);
    default:
      return pressCommon(state, key, rows) ?? (state.mode === "detail" ? pressDetail : pressList)(state, key);
  }
}

const ACTION_OF: Readonly<Record<string, Action>> = {
  e: "enable",
  d: "disable",
  t: "test",
  b: "balance",
  C: "copy",
  x: "delete",
  E: "edit",
  u: "undo",
  a: "apply",
  P: "priority",
  W: "weight",
};

function pressCommon(state: State, key: string, rows: number): Step | undefined {
  const by = findStep(key, rows);
  if (by !== undefined) return { state: moved(state, by) };
  if (key === "?") return { state: { ...state, mode: "help", offset: 0 } };
  if (key === ":") return { state: { ...state, mode: "command", typed: "", notice: "" } };
  if (key === "y" || key === "o") return pressOutside(state, key);
  const action = ACTION_OF[key];
  return action && pressAction(state, action);
}

/** Keys that act outside the screen: they copy the id to the clipboard or open the page in the browser. */
function pressOutside(state: State, key: "y" | "o"): Step {
  const item = visibleItems(state)[chosenAt(state)];
  const { page } = state.resource;
  if (key === "o")
    return page === undefined
      ? { state: { ...state, notice: `The console has no page for ${state.resource.name}.` } }
      : { state, effect: { type: "browse", page } };
  return item ? { state, effect: { type: "copy", text: item.id } } : { state };
}

function findStep(key: string, rows: number): number | undefined {
  if (key === "up" || key === "k") return -1;
  if (key === "down" || key === "j") return 1;
  if (key === "pageup") return -rows;
  if (key === "pagedown") return rows;
  if (key === "g") return Number.NEGATIVE_INFINITY;
  return key === "G" ? Number.POSITIVE_INFINITY : undefined;
}

function pressHelp(state: State, key: string, rows: number): Step {
  const by = findStep(key, rows);
  if (by === undefined) return { state: { ...state, mode: "list", offset: 0 } };
  const last = listHelpLines(state.isReadOnly).length - 1;
  return { state: { ...state, offset: Math.max(0, Math.min(last, state.offset + by)) } };
}

function moved(state: State, by: number): State {
  const count = state.mode === "detail" ? state.detail.length : visibleItems(state).length;
  const from = state.mode === "detail" ? state.offset : chosenAt(state);
  const to = Math.max(0, Math.min(count - 1, from + by));
  return state.mode === "detail" ? { ...state, offset: to } : { ...state, chosenKey: visibleItems(state)[to]?.key };
}

const READ_ONLY = "This screen is read-only.";

function pressAction(state: State, action: Action): Step {
  const chosen = visibleItems(state)[chosenAt(state)];
  if (!chosen) return { state };
  if (state.isReadOnly) return { state: { ...state, notice: READ_ONLY } };
  const marked = state.mode === "list" && action !== "edit" ? markedItems(state) : [];
  const items = (marked.length > 0 ? marked : [chosen]).filter(({ actions }) => actions.includes(action));
  if (items.length === 0)
    return { state: { ...state, notice: `${formatItemsLabel([chosen], state.resource)} has no ${action}.` } };
  return openChoice(state, action, items) ?? begin(state, action, items);
}

/** The detail asks which choice the action uses, if there are several. */
function openChoice(state: State, action: Action, items: readonly Item[]): Step | undefined {
  const count = items[0]?.choices?.[action]?.length ?? 0;
  if (state.mode !== "detail" || count < 2) return undefined;
  return { state: { ...state, mode: "choice", offset: 0, notice: "", pending: { action, items, back: "detail" } } };
}

/** Actions that change nothing, or ask elsewhere. */
const AT_ONCE: readonly Action[] = ["test", "balance", "edit"];

function begin(state: State, action: Action, items: readonly Item[]): Step {
  // The detail shows the change to undo, unless the row itself has it.
  if (action === "undo" && state.mode === "list" && items[0]?.undoes === undefined) return openDetail(state);
  if (action === "disable" && items.some(({ isManaged }) => isManaged)) return openForm(state, "D");
  if (AT_ONCE.includes(action)) {
    const notice = `${action} ${formatItemsLabel(items, state.resource)} …`;
    return { state: { ...state, notice, marked: [] }, effect: { type: "act", action, items } };
  }
  const pending: Pending = { action, items, back: state.mode, wanted: wantedFor(action, items) };
  const mode = action === "priority" || action === "weight" ? "amount" : "confirm";
  return { state: { ...state, mode, typed: "", notice: "", pending } };
}

/** To delete several rows, the user types their number; to apply the deletions of a plan, their name or number. */
function wantedFor(action: Action, items: readonly Item[]): string | undefined {
  if (action === "delete" && items.length > 1) return String(items.length);
  const deleted = items.flatMap(({ deletes }) => deletes ?? []);
  return deleted.length > 1 ? String(deleted.length) : deleted[0];
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
  if (isFormKey(key)) return openForm(state, key);
  return { state: { ...state, ...LIST_KEYS[key]?.(state) } };
}

/** Keys that only change what is shown. */
const LIST_KEYS: Readonly<Record<string, (state: State) => Partial<State>>> = {
  "/": ({ filter }) => ({ mode: "filter", typed: filter, notice: "" }),
  s: (state) => ({ sort: nextSort(state) }),
  S: ({ sort }) => ({ sort: sort && { ...sort, isDown: !sort.isDown } }),
  F: ({ resource, isFollowing }) => ({ isFollowing: resource.name === "logs" && !isFollowing }),
  v: () => ({ mode: "columns", offset: 0, notice: "" }),
};

const FORM_WORD: Readonly<Record<FormKey, string>> = {
  c: "create",
  D: "disable for a time",
  f: "filter by a form",
  w: "write to a file",
};

function isFormKey(key: string): key is FormKey {
  return key in FORM_WORD;
}

function openForm(state: State, key: FormKey): Step {
  const form = state.resource.forms?.[key];
  if (!form)
    return { state: { ...state, notice: `The list of ${state.resource.name} has nothing to ${FORM_WORD[key]}.` } };
  if ((key === "c" || key === "D") && state.isReadOnly) return { state: { ...state, notice: READ_ONLY } };
  if (key === "D" && state.items.length === 0) return { state };
  if (key === "w" && state.isWriting)
    return { state: { ...state, notice: "A file is being written; esc stops that." } };
  return { state: { ...state, mode: "form", notice: "", form: key === "f" ? filledWith(form, state.query) : form } };
}

/** Esc leaves one step at a time. */
function leaveFilter(state: State): Step {
  const reading = { items: [], isLoading: true };
  if (state.isWriting) return { state, effect: { type: "stop" } };
  if (state.search !== "")
    return { state: { ...state, filter: "", search: "", isLoading: true }, effect: { type: "load" } };
  if (state.filter === "" && state.marked.length > 0) return { state: { ...state, marked: [] } };
  if (state.filter !== "") return { state: { ...state, filter: "", notice: "" } };
  if (Object.keys(state.query).length > 0)
    return { state: { ...state, ...reading, query: {}, notice: "" }, effect: { type: "load" } };
  const before = goBack(state);
  if (before) return { state: { ...before, isLoading: true }, effect: { type: "load" } };
  if (!state.scope) return { state: { ...state, notice: "" } };
  return { state: { ...state, ...reading, scope: undefined }, effect: { type: "load" } };
}

function openDetail(state: State): Step {
  const item = visibleItems(state)[chosenAt(state)];
  if (!item) return { state };
  return {
    state: { ...state, chosenKey: item.key, notice: `Reading ${item.label} …` },
    effect: { type: "detail", item },
  };
}

/** Returns the next visible column; after the last one, the gateway's order. */
function nextSort(state: State): State["sort"] {
  const shown = shownColumns(state);
  const column = shown[state.sort ? shown.indexOf(state.sort.column) + 1 : 0];
  return column === undefined ? undefined : { column, isDown: false };
}

/** Opens the calls of the chosen channel: `l` the failed ones, `L` all. */
export function openCalls(state: State, key: string, resources: readonly Titles[]): Step | undefined {
  const logs = findResource(resources, "logs");
  const item = visibleItems(state)[chosenAt(state)];
  const isOfChannel = (state.mode === "list" || state.mode === "detail") && state.resource.name === "channels";
  if (!isOfChannel || !logs || !item || (key !== "l" && key !== "L")) return undefined;
  const scope: Scope = { channel: item.key, label: item.label, isFailing: key === "l" };
  const next = { ...createInitialState(logs, state), scope };
  return { state: openFrom(state, next), effect: { type: "load" } };
}
