import type { KeyboardEvent } from "react";
import type { RowModel } from "./grid-row.tsx";
import { listControls, readIndex } from "./use-roving.ts";

interface Keyboard<Row> {
  readonly model: RowModel<Row>;
  readonly rows: readonly Row[];
  readonly body: HTMLElement;
  /** Scrolls to a row that is not rendered. */
  reveal?(index: number): void;
}

/** Handles the keys of rows; keys inside an input belong to the input. */
export function onGridKey<Row>(keyboard: Keyboard<Row>, event: KeyboardEvent): void {
  const { target } = event;
  if (!(target instanceof HTMLElement) || event.ctrlKey || event.metaKey || event.altKey) return;
  const element = target.closest<HTMLElement>(".grid-row");
  if (!element || (target !== element && target.matches("input:not([type=checkbox]), select, textarea"))) return;
  const action =
    moveKey(keyboard, element, event) ?? (target === element ? rowKey(keyboard, element, event) : undefined);
  if (!action) return;
  event.preventDefault();
  action();
}

type Action = (() => void) | undefined;

function moveKey<Row>(keyboard: Keyboard<Row>, row: HTMLElement, event: KeyboardEvent): Action {
  const index = readIndex(row);
  const isRtl = getComputedStyle(row).direction === "rtl";
  switch (event.key) {
    case "ArrowDown":
      return () => moveTo(keyboard, index + 1, event.shiftKey ? index : undefined);
    case "ArrowUp":
      return () => moveTo(keyboard, index - 1, event.shiftKey ? index : undefined);
    case "Home":
      return () => moveTo(keyboard, 0);
    case "End":
      return () => moveTo(keyboard, keyboard.rows.length - 1);
    case "ArrowRight":
      return () => moveWithin(row, isRtl ? -1 : 1);
    case "ArrowLeft":
      return () => moveWithin(row, isRtl ? 1 : -1);
    case "Escape":
      return event.target === row ? undefined : () => row.focus();
    default:
      return undefined;
  }
}

function rowKey<Row>(keyboard: Keyboard<Row>, element: HTMLElement, event: KeyboardEvent): Action {
  const { grid } = keyboard.model;
  const index = readIndex(element);
  const row = keyboard.rows[index];
  if (row === undefined) return undefined;
  const own = grid.keys?.[event.key];
  if (own) return () => own(row);
  switch (event.key) {
    case "j":
      return () => moveTo(keyboard, index + 1);
    case "k":
      return () => moveTo(keyboard, index - 1);
    case "Enter":
      return grid.onOpen && (() => grid.onOpen?.(row));
    case " ":
    case "x":
    case "X":
      return () => toggle(keyboard.model, row, event.shiftKey);
    case ".":
      return () => element.querySelector<HTMLElement>("[data-row-menu]")?.click();
    default:
      return undefined;
  }
}

/** Works like a click on the row's checkbox: with `isRange`, it selects all rows from the previously clicked one. */
function toggle<Row>({ grid, table }: RowModel<Row>, row: Row, isRange: boolean): void {
  if (!grid.selection) return;
  const entry = table.getRow(String(grid.rowId(row)));
  entry.getToggleSelectedHandler()({ target: { checked: !entry.getIsSelected() }, shiftKey: isRange });
}

/** `from` is the row where a Shift selection begins. */
function moveTo<Row>({ model, rows, body, reveal }: Keyboard<Row>, wanted: number, from?: number): void {
  const index = Math.max(0, Math.min(rows.length - 1, wanted));
  const { selection, rowId } = model.grid;
  if (from !== undefined && selection) {
    const both = [rows[from], rows[index]].flatMap((row) => (row === undefined ? [] : [rowId(row)]));
    selection.change(new Set([...selection.ids, ...both]));
  }
  const find = () => body.querySelector<HTMLElement>(`.grid-row[data-index="${index}"]`);
  const row = find();
  if (row) return row.focus();
  reveal?.(index);
  requestAnimationFrame(() => find()?.focus());
}

function moveWithin(row: HTMLElement, step: 1 | -1): void {
  const stops = [row, ...listControls(row)];
  const at = stops.findIndex((stop) => stop === document.activeElement);
  stops[Math.max(0, Math.min(stops.length - 1, at + step))]?.focus();
}
