import { table } from "../../print/table.ts";
import { helpOf } from "./help.ts";
import { chosenAt, isCounted, labelOf, markedItems, visibleItems, type Item, type State } from "./state.ts";

/** A line of the screen; without colours it says the same. */
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

/** Title, table or detail, message, keys: never more than `height` lines. */
export function frameOf(state: State, place: Place): Line[] {
  const room = bodyHeight(place.height);
  const body = bodyOf(state, place.width, room).slice(0, room);
  const blank = Array.from({ length: room - body.length }, (): Line => ({ text: "" }));
  return [{ text: titleOf(state, place), tone: "title" }, ...body, ...blank, footOf(state), keysOf(state)];
}

/** Lines between the title and the two lines at the bottom. */
export function bodyHeight(height: number): number {
  return Math.max(1, height - 3);
}

function titleOf(state: State, { server, user }: Place): string {
  const { resource, items, isCut, isLoading, filter, sort, scope, isFollowing, isReadOnly } = state;
  const isUnknown = isLoading && items.length === 0;
  const count = isUnknown ? "…" : filter === "" ? items.length : `${visibleItems(state).length} of ${items.length}`;
  const parts = [
    `${resource.name} ${count}${isCut ? " (m reads more)" : ""}`,
    ...(scope ? [`${scope.isFailing ? "failing calls" : "calls"} of ${scope.label}`] : []),
    ...(filter === "" ? [] : [`/${filter}`]),
    ...(sort ? [`by ${resource.titles[sort.column]}${sort.isDown ? "↓" : "↑"}`] : []),
    ...markedOf(state),
    ...(isFollowing ? ["following"] : []),
    ...(isReadOnly ? ["read-only"] : []),
  ];
  return `fairway  ${[...parts, user, server].join(" · ")}`;
}

function markedOf(state: State): string[] {
  const { length } = markedItems(state);
  return length > 0 ? [`${length} marked`] : [];
}

function bodyOf(state: State, width: number, room: number): Line[] {
  if (state.mode === "help")
    return helpOf(state.isReadOnly)
      .slice(state.offset)
      .map((text) => ({ text }));
  const isDetail = state.mode === "detail" || (state.mode === "confirm" && state.pending?.back === "detail");
  if (isDetail) return state.detail.slice(state.offset).map((text) => ({ text }));
  const items = visibleItems(state);
  if (items.length === 0) return [{ text: state.isLoading ? "Reading …" : "Nothing here.", tone: "quiet" }];
  const at = chosenAt(state);
  const size = Math.max(1, room - 1);
  const from = Math.min(Math.max(0, at - Math.floor(size / 2)), Math.max(0, items.length - size));
  const rows = items.slice(from, from + size);
  const marked = new Set(state.marked);
  const columns = state.resource.titles.map((title, index) => ({
    title,
    value: ({ cells }: Item) => cells[index] ?? "",
    isNumber: state.resource.numeric[index] ?? false,
    ...(state.resource.fixed?.[index] ? { holds: "time" as const } : {}),
  }));
  const [titles = "", ...lines] = table(columns, rows, width - 3).split("\n");
  return [
    { text: `   ${titles}`, tone: "quiet" },
    ...lines.map((text, index): Line => {
      const isChosen = from + index === at;
      const tone = isChosen ? "chosen" : rows[index]?.isOff ? "bad" : undefined;
      const mark = marked.has(rows[index]?.key ?? "") ? "*" : " ";
      return { text: `${isChosen ? ">" : " "}${mark} ${text}`, ...(tone ? { tone } : {}) };
    }),
  ];
}

function footOf({ mode, typed, pending, problem, notice, resource }: State): Line {
  if (mode === "confirm" && pending) {
    const { action, items } = pending;
    const answer = isCounted(pending) ? `Type ${items.length}: ${typed}` : "[y/N]";
    return { text: `${action} ${labelOf(items, resource)}? ${answer}`, tone: "question" };
  }
  if (mode === "filter") return { text: `/${typed}`, tone: "question" };
  if (mode === "command") return { text: `:${typed}`, tone: "question" };
  return problem === "" ? { text: notice } : { text: `! ${problem}`, tone: "bad" };
}

function keysOf({ mode }: State): Line {
  const texts: Partial<Record<State["mode"], string>> = {
    list: "? help · enter detail · / filter · : open · s sort · q quit",
    detail: "esc back · ↑↓ scroll · ? help",
    filter: "enter keep · esc clear",
    command: "enter open · esc back",
    confirm: "y yes · any other key no",
    help: "↑↓ scroll · any other key closes this",
  };
  return { text: texts[mode] ?? "", tone: "quiet" };
}
