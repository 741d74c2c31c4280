// Keys while the screen waits for input: a text, an answer, a number or the fields of a form.
import { LOWEST_PRIORITY } from "@fairway/wire";
import { pressForm, typedInto } from "./form.ts";
import {
  listChoices,
  findResource,
  formatItemsLabel,
  openFrom,
  shownColumns,
  createInitialState,
  type Action,
  type Amount,
  type Given,
  type Item,
  type State,
  type Step,
  type Titles,
} from "./state.ts";

export function pressText(state: State, key: string, resources: readonly Titles[]): Step {
  const { mode, typed } = state;
  const withText = (text: string): Step => ({
    state: {
      ...state,
      typed: text,
      ...(mode === "filter" ? { filter: text } : { notice: listCompletions(text, resources).join(" ") }),
    },
  });
  if (key === "escape")
    return { state: { ...state, mode: "list", typed: "", notice: "", ...(mode === "filter" && { filter: "" }) } };
  if (key === "tab" && mode === "command") return withText(complete(typed, resources));
  if (key !== "enter") return withText(typedText(typed, key));
  const closed: State = { ...state, mode: "list", typed: "", notice: "" };
  if (mode === "command") return runCommand(closed, typed, resources);
  return state.isCut && typed !== ""
    ? { state: { ...closed, search: typed, isLoading: true }, effect: { type: "load" } }
    : { state: closed };
}

/** Returns the text after a letter or a correction. */
function typedText(text: string, key: string): string {
  if (key === "backspace") return Array.from(text).slice(0, -1).join("");
  return Array.from(key).length === 1 && key >= " " ? text + key : text;
}

/** Returns the commands that begin with a text; none once one of them is followed by its words. */
function listCompletions(typed: string, resources: readonly Titles[]): readonly string[] {
  const names = [...resources.map(({ name }) => name), "apply", "quit"];
  return typed === "" || names.includes(typed) ? [] : names.filter((name) => name.startsWith(typed));
}

/** Adds the letters that all commands beginning with the text share. */
function complete(typed: string, resources: readonly Titles[]): string {
  const [first = typed, ...others] = listCompletions(typed, resources);
  let length = first.length;
  while (!others.every((other) => other.startsWith(first.slice(0, length)))) length -= 1;
  return first.slice(0, length);
}

function runCommand(closed: State, typed: string, resources: readonly Titles[]): Step {
  const [word = "", ...words] = typed.trim().split(/\s+/);
  if (word === "apply") return openPlan(closed, words);
  if (word === "q" || word === "quit") return { state: closed, effect: { type: "quit" } };
  const resource = findResource(resources, word);
  const names = resources.map(({ name }) => name).join(", ");
  if (!resource) return { state: { ...closed, notice: `There is no resource ${word}: use ${names}.` } };
  return { state: openFrom(closed, createInitialState(resource, closed)), effect: { type: "load" } };
}

function openPlan(state: State, words: readonly string[]): Step {
  if (words.every((word) => word === "--prune"))
    return { state: { ...state, notice: "Name files or folders: :apply channels.yaml" } };
  return { state: { ...state, notice: `Comparing ${words.join(" ")} …` }, effect: { type: "plan", words } };
}

export function pressAnswer(state: State, key: string): Step {
  const { pending } = state;
  const back: State = { ...state, mode: pending?.back ?? "list", pending: undefined, typed: "" };
  const unchanged: Step = { state: { ...back, notice: "Nothing was changed." } };
  if (!pending) return unchanged;
  const { action, items, wanted } = pending;
  if (wanted === undefined) return key.toLowerCase() === "y" ? run(back, action, items) : unchanged;
  if (key !== "enter" && key !== "escape") return { state: { ...state, typed: typedText(state.typed, key) } };
  return key === "enter" && state.typed === wanted ? run(back, action, items) : unchanged;
}

function run(state: State, action: Action, items: readonly Item[], given?: Given): Step {
  const notice = `${action} ${formatItemsLabel(items, state.resource)} …`;
  const effect = { type: "act", action, items, ...(given && { given }) } as const;
  return { state: { ...state, notice, marked: [] }, effect };
}

/** Enter acts with the chosen value. */
export function pressChoice(state: State, key: string, by: number | undefined): Step {
  const { pending, offset } = state;
  const choices = listChoices(state);
  if (by !== undefined) return { state: { ...state, offset: Math.max(0, Math.min(choices.length - 1, offset + by)) } };
  const back: State = { ...state, mode: pending?.back ?? "list", pending: undefined, offset: 0 };
  const choice = choices[offset];
  if (key === "enter" && pending && choice !== undefined) return run(back, pending.action, pending.items, { choice });
  return key === "escape" || key === "q" ? { state: back } : { state };
}

/** The least and the greatest value that the gateway accepts. */
const LIMITS: Readonly<Record<Amount, readonly [number, number]>> = {
  priority: [LOWEST_PRIORITY, Number.MAX_SAFE_INTEGER],
  weight: [0, 2_147_483_647],
};

export function pressAmount(state: State, key: string): Step {
  const { pending, typed } = state;
  const back: State = { ...state, mode: pending?.back ?? "list", pending: undefined, typed: "" };
  if (!pending || key === "escape") return { state: { ...back, notice: "Nothing was changed." } };
  const { action, items } = pending;
  if (action !== "priority" && action !== "weight") return { state: back };
  if (key !== "enter")
    return { state: { ...state, typed: typedText(typed, key), pending: { ...pending, problem: "" } } };
  const problem = amountProblem(action, typed);
  return problem === undefined
    ? run(back, action, items, { amount: Number(typed) })
    : { state: { ...state, pending: { ...pending, problem } } };
}

function amountProblem(action: Amount, typed: string): string | undefined {
  const [least, most] = LIMITS[action];
  const amount = /^-?\d{1,15}$/.test(typed.trim()) ? Number(typed) : Number.NaN;
  if (amount >= least && amount <= most) return undefined;
  const wrong = typed.trim() === "" ? "nothing was typed" : `${typed} does not fit`;
  return `${action}: ${wrong}; write a whole number from ${least}${action === "weight" ? ` to ${most}` : ""}`;
}

/** Space shows or hides a column; the last visible one stays. */
export function pressColumns(state: State, key: string, by: number | undefined): Step {
  const { titles, name } = state.resource;
  if (by !== undefined) {
    const offset = Math.max(0, Math.min(titles.length - 1, state.offset + by));
    return { state: { ...state, offset } };
  }
  if (key === " ") {
    const shown = shownColumns(state);
    const next = shown.includes(state.offset)
      ? shown.filter((at) => at !== state.offset)
      : [...shown, state.offset].toSorted((a, b) => a - b);
    if (next.length === 0) return { state: { ...state, notice: "One column stays." } };
    const chosen = next.flatMap((at) => titles[at] ?? []);
    return { state: { ...state, notice: "", columns: { ...state.columns, [name]: chosen } } };
  }
  if (key === "backspace") {
    const { [name]: _chosen, ...others } = state.columns;
    return { state: { ...state, columns: others } };
  }
  if (!["enter", "escape", "q", "v"].includes(key)) return { state };
  return { state: { ...state, mode: "list", offset: 0 }, effect: { type: "keep" } };
}

export function pressFormKeys(state: State, key: string): Step {
  if (!state.form) return { state: { ...state, mode: "list" } };
  const step = pressForm(state.form, key);
  const next: State = { ...state, form: step.form };
  if (!("does" in step)) return { state: next };
  if (step.does === "leave")
    return { state: { ...state, mode: "list", form: undefined, notice: LEFT[step.form.kind] } };
  return { state: { ...next, notice: "" }, effect: { type: step.does, form: step.form } };
}

const LEFT = {
  create: "Nothing was created.",
  disable: "Nothing was changed.",
  filter: "",
  write: "Nothing was written.",
} as const;

/** A new key or code is shown once. */
export function pressSecret(state: State, key: string): Step {
  if (key === "c") return { state, effect: { type: "copy", text: state.secret } };
  if (!["enter", "escape", "q"].includes(key)) return { state };
  return { state: { ...state, mode: "list", secret: "", detail: [], notice: "" } };
}

/** Inserts pasted text if the screen takes text, and otherwise ignores it: it is not a series of keys. */
export function paste(state: State, text: string): State {
  const { mode, typed, form } = state;
  const line = text.replaceAll("\r\n", "\n").replaceAll("\r", "\n").trimEnd();
  const flat = line.replaceAll("\n", " ");
  if (mode === "form" && form && form.question === "") {
    const isSecret = form.fields[form.at]?.isSecret ?? false;
    return { ...state, form: typedInto(form, (value) => value + (isSecret ? line : flat)) };
  }
  if (mode === "filter") return { ...state, typed: typed + flat, filter: typed + flat };
  return mode === "command" || mode === "amount" ? { ...state, typed: typed + flat } : state;
}
