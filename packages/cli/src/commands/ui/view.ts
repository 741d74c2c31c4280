import { table } from "../../print/table.ts";
import { measureWidth } from "../../print/width.ts";
import type { Form } from "./form.ts";
import { listHelpLines } from "./help.ts";
import {
  listChoices,
  chosenAt,
  formatItemsLabel,
  markedItems,
  shownColumns,
  visibleItems,
  type Item,
  type Pending,
  type State,
} from "./state.ts";

/** A line of the screen; colours carry no information of their own. */
export interface Line {
  readonly text: string;
  readonly tone?: "title" | "quiet" | "bad" | "chosen" | "question";
}

export interface Place {
  readonly server: string;
  readonly user: string;
  readonly width: number;
  readonly height: number;
}

/**
 * Renders title, table or detail, message and keys, in at most `height` lines. A long message takes lines of the body.
 */
export function renderFrame(state: State, place: Place): Line[] {
  const { text, tone } = renderFoot(state, place.width);
  const foot = wrapped(text, place.width).slice(0, FOOT);
  const room = Math.max(1, bodyHeight(place.height) + 1 - foot.length);
  const body = renderBody(state, place.width, room).slice(0, room);
  const blank = Array.from({ length: room - body.length }, (): Line => ({ text: "" }));
  return [
    { text: formatTitle(state, place), tone: "title" },
    ...body,
    ...blank,
    ...foot.map((line): Line => ({ text: line, ...(tone ? { tone } : {}) })),
    formatKeys(state),
  ];
}

/** The most lines of a message. */
const FOOT = 3;

/** Lines between the title and the two lines at the bottom. */
export function bodyHeight(height: number): number {
  return Math.max(1, height - 3);
}

function formatTitle(state: State, { server, user }: Place): string {
  const { resource, isCut, filter, sort, scope, query, isFollowing, isReadOnly } = state;
  const parts = [
    `${resource.name} ${formatCount(state)}${isCut ? " (m reads more)" : ""}`,
    ...(scope ? [`${scope.isFailing ? "failing calls" : "calls"} of ${scope.label}`] : []),
    ...Object.entries(query).map(([name, value]) => `${name}=${value}`),
    ...(filter === "" ? [] : [`/${filter}`]),
    ...(sort ? [`by ${resource.titles[sort.column]}${sort.isDown ? "↓" : "↑"}`] : []),
    ...formatMarked(state),
    ...(isFollowing ? ["following"] : []),
    ...(isReadOnly ? ["read-only"] : []),
  ];
  return `fairway  ${[...parts, user, server].join(" · ")}`;
}

function formatCount(state: State): string {
  const { items, summary, isLoading, filter } = state;
  if (isLoading && items.length === 0) return "…";
  if (filter !== "") return `${visibleItems(state).length} of ${items.length}`;
  return summary === "" ? String(items.length) : summary;
}

function formatMarked(state: State): string[] {
  const { length } = markedItems(state);
  return length > 0 ? [`${length} marked`] : [];
}

function renderBody(state: State, width: number, room: number): Line[] {
  const { mode, pending, form } = state;
  if (mode === "help")
    return listHelpLines(state.isReadOnly)
      .slice(state.offset)
      .map((text) => ({ text }));
  if (mode === "form" && form) return formLines(form, width, room);
  if (mode === "columns") return columnLines(state, room);
  if (mode === "choice") return choiceLines(state, room);
  const isDetail = mode === "detail" || mode === "secret" || (pending !== undefined && pending.back === "detail");
  if (isDetail) return state.detail.slice(state.offset).map((text) => ({ text }));
  return listLines(state, width, room);
}

/** Says that the list is empty, and names the key to press next. */
function emptyText({ resource, scope, query, filter }: State): string {
  if (filter !== "") return `No ${resource.name} match /${filter}; esc clears it.`;
  if (Object.keys(query).length > 0) return `No ${resource.name} match the form; esc clears it.`;
  if (scope)
    return scope.isFailing
      ? `No failing calls of ${scope.label}; L at the channel lists all its calls.`
      : `No calls of ${scope.label}.`;
  return resource.forms?.c ? `No ${resource.name}; c creates one.` : `No ${resource.name}.`;
}

function listLines(state: State, width: number, room: number): Line[] {
  const items = visibleItems(state);
  if (items.length === 0) return [{ text: state.isLoading ? "Reading …" : emptyText(state), tone: "quiet" }];
  const at = chosenAt(state);
  const parted = items.findIndex(({ deletes }) => deletes !== undefined);
  const size = Math.max(1, room - 1 - (parted > 0 ? 2 : 0));
  const from = Math.min(Math.max(0, at - Math.floor(size / 2)), Math.max(0, items.length - size));
  const rows = items.slice(from, from + size);
  const marked = new Set(state.marked);
  const { titles, numeric, fixed } = state.resource;
  const columns = shownColumns(state).map((place) => ({
    title: titles[place] ?? "",
    value: ({ cells }: Item) => cells[place] ?? "",
    isNumber: numeric[place] ?? false,
    ...(fixed?.[place] ? { holds: "time" as const } : {}),
  }));
  const [head = "", ...lines] = table(columns, rows, width - 3).split("\n");
  const shown = lines.map((text, index): Line => {
    const isChosen = from + index === at;
    const tone = isChosen ? "chosen" : rows[index]?.isOff ? "bad" : undefined;
    const mark = marked.has(rows[index]?.key ?? "") ? "*" : " ";
    return { text: `${isChosen ? ">" : " "}${mark} ${text}`, ...(tone ? { tone } : {}) };
  });
  const before = parted > 0 && !state.sort ? Math.max(0, parted - from) : shown.length;
  const apart: Line[] =
    before < shown.length
      ? [{ text: "" }, { text: "DELETED, because no document names it any more:", tone: "title" }]
      : [];
  return [{ text: `   ${head}`, tone: "quiet" }, ...shown.slice(0, before), ...apart, ...shown.slice(before)];
}

/** Shows the fields, with the mistake of the chosen one below it. */
function formLines({ title, fields, at, problem }: Form, width: number, room: number): Line[] {
  const widest = Math.max(...fields.map(({ name }) => name.length));
  const size = Math.max(1, room - 1 - (problem === "" ? 0 : 2));
  const from = Math.max(0, Math.min(at - size + 1, fields.length - size));
  const shown = fields.slice(from, from + size).flatMap(({ name, value, isSecret, isNeeded }, index): Line[] => {
    const isChosen = from + index === at;
    const text = (isSecret ? "*".repeat(Array.from(value).length) : value) + (isChosen ? "_" : "");
    const mark = isNeeded && value === "" ? "!" : " ";
    const head = `${isChosen ? ">" : " "}${mark} ${name.padEnd(widest)}  `;
    const line: Line = {
      text: head + truncateStart(text, width - head.length),
      ...(isChosen ? { tone: "chosen" } : {}),
    };
    const wrong = isChosen && problem !== "" ? wrapped(problem, width - 4).slice(0, 2) : [];
    return [line, ...wrong.map((one): Line => ({ text: `    ${one}`, tone: "bad" }))];
  });
  return [{ text: title, tone: "title" }, ...shown];
}

/** Keeps the end of a text, where the user types. */
function truncateStart(text: string, width: number): string {
  if (measureWidth(text) <= width) return text;
  const letters = Array.from(text);
  while (measureWidth(letters.join("")) > width - 1) letters.shift();
  return `…${letters.join("")}`;
}

/** Wraps at words; a word that is longer than a line is divided. */
function wrapped(text: string, width: number): string[] {
  if (measureWidth(text) <= width) return [text];
  const lines: string[] = [];
  for (const word of text.split(" ").flatMap((one) => splitWord(one, width))) {
    const last = lines.at(-1);
    if (last !== undefined && measureWidth(`${last} ${word}`) <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function splitWord(word: string, width: number): string[] {
  if (measureWidth(word) <= width) return [word];
  const letters = Array.from(word);
  const count = Math.max(1, Math.floor(width / 2));
  return Array.from({ length: Math.ceil(letters.length / count) }, (_, at) =>
    letters.slice(at * count, (at + 1) * count).join(""),
  );
}

function columnLines(state: State, room: number): Line[] {
  const { titles, name } = state.resource;
  const shown = new Set(shownColumns(state));
  const size = Math.max(1, room - 1);
  const from = Math.max(0, Math.min(state.offset - size + 1, titles.length - size));
  const lines = titles.slice(from, from + size).map((title, index): Line => {
    const isChosen = from + index === state.offset;
    const text = `${isChosen ? ">" : " "} [${shown.has(from + index) ? "x" : " "}] ${title}`;
    return { text, ...(isChosen ? { tone: "chosen" } : {}) };
  });
  return [{ text: `Columns of ${name}`, tone: "title" }, ...lines];
}

/** Shows the choices of an action, the usual one first. */
function choiceLines({ pending, offset, resource, ...state }: State, room: number): Line[] {
  const choices = listChoices({ pending });
  const size = Math.max(1, room - 1);
  const from = Math.max(0, Math.min(offset - size + 1, choices.length - size));
  const lines = choices.slice(from, from + size).map((text, index): Line => {
    const at = from + index;
    const isChosen = at === offset;
    return {
      text: `${isChosen ? ">" : " "} ${text}${at === 0 ? "  (usual)" : ""}`,
      ...(isChosen ? { tone: "chosen" } : {}),
    };
  });
  return [
    {
      text: `${pending?.action ?? ""} ${formatItemsLabel(pending?.items ?? state.items, resource)} with`,
      tone: "title",
    },
    ...lines,
  ];
}

function renderFoot(state: State, width: number): Line {
  const { mode, typed, pending, problem, notice, form } = state;
  if (mode === "choice") return { text: `${state.offset + 1} of ${listChoices(state).length}` };
  if (pending) return formatQuestion(state, pending);
  if (mode === "form" && form) return renderFormFoot(form, notice);
  if (mode === "filter") return { text: `/${truncateStart(typed, width - 1)}`, tone: "question" };
  if (mode === "command") {
    const text = `:${truncateStart(typed, width - 1)}`;
    return { text: notice === "" ? text : `${text}   ${notice}`, tone: "question" };
  }
  return problem === "" ? { text: notice } : { text: `! ${problem}`, tone: "bad" };
}

function renderFormFoot({ fields, at, question }: NonNullable<State["form"]>, notice: string): Line {
  if (question !== "") return { text: `${question} [y/N]`, tone: "question" };
  return { text: notice === "" ? (fields[at]?.hint ?? "") : notice };
}

function formatQuestion(state: State, { action, items, wanted, problem = "" }: Pending): Line {
  const { typed, mode, resource } = state;
  const named = formatItemsLabel(items, resource);
  const one = items.length === 1 ? items[0] : undefined;
  if (mode === "amount" && (action === "priority" || action === "weight")) {
    if (problem !== "") return { text: `! ${problem}`, tone: "bad" };
    const now = one?.amounts ? `, now ${one.amounts[action]}` : "";
    return { text: `${action} of ${named}${now}: ${typed}`, tone: "question" };
  }
  const answer = wanted === undefined ? "[y/N]" : `Type ${wanted}: ${typed}`;
  return {
    text: `${action} ${named}${action === "undo" || action === "apply" ? describeConsequence(items, one) : ""}? ${answer}`,
    tone: "question",
  };
}

function describeConsequence(items: readonly Item[], one: Item | undefined): string {
  if (one)
    return one.deletes === undefined ? (one.undoes === undefined ? "" : `: ${one.undoes}`) : ", which deletes it";
  const deleted = items.filter(({ deletes }) => deletes !== undefined).length;
  return deleted > 0 ? `, ${deleted} of them deleted` : "";
}

const KEYS: Readonly<Partial<Record<State["mode"], string>>> = {
  list: "? help · enter detail · / filter · : open · s sort · q quit",
  detail: "esc back · ↑↓ scroll · ? help",
  filter: "enter keep · esc clear",
  command: "enter open · tab complete · esc back",
  amount: "enter set · esc back",
  choice: "enter do it · ↑↓ choose · esc back",
  help: "↑↓ scroll · any other key closes this",
  columns: "space show or hide · backspace the usual ones · enter done",
  secret: "c copy · enter closes this for good",
};

const FORM_KEYS: Readonly<Record<Form["kind"], string>> = {
  create: "enter create · tab next · ctrl-e in $EDITOR · esc back",
  disable: "enter disable · tab next · ctrl-u empty · esc back",
  filter: "enter filter · tab next · ctrl-u empty · esc back",
  write: "enter write · tab next · ctrl-u empty · esc back",
};

function formatKeys({ mode, pending, form }: State): Line {
  const isTyped = pending?.wanted !== undefined;
  const confirming = isTyped ? "enter if it is typed · esc no" : "y yes · any other key no";
  const text =
    mode === "confirm"
      ? confirming
      : mode === "form" && form
        ? form.question === ""
          ? FORM_KEYS[form.kind]
          : "y yes · any other key back to the form"
        : (KEYS[mode] ?? "");
  return { text, tone: "quiet" };
}
