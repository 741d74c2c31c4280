import type { LogRow } from "@fairway/wire";
import { indexOfKey, rowKeyOf } from "./row-key.ts";

interface PeekInput {
  readonly rows: readonly LogRow[] | undefined;
  readonly isAdmin: boolean;
  /** The state in the address. */
  readonly row: string;
  go(change: { row: string }): void;
  replace(change: { row: string }): void;
}

/** The row that is open next to the list, and the ways to others. */
export function usePeek({ rows = [], isAdmin, row: key, go, replace }: PeekInput) {
  const index = indexOfKey(rows, key, isAdmin);
  const show = (row: LogRow) => (key === "" ? go : replace)({ row: rowKeyOf(row, isAdmin) });
  /** Keys may come faster than the page is drawn: the address is ahead of it. */
  const currentIndex = () => indexOfKey(rows, new URLSearchParams(location.search).get("row") ?? "", isAdmin);
  const close = () => {
    const at = currentIndex();
    replace({ row: "" });
    // The list is drawn without the panel first.
    requestAnimationFrame(() => document.querySelectorAll<HTMLElement>(".log-grid .grid-row")[at]?.focus());
  };
  return {
    key,
    /** Undefined for a link to a row that the list does not show. */
    listed: rows[index],
    openedId: rows[index]?.id,
    hasPrevious: index > 0,
    hasNext: index >= 0 && index < rows.length - 1,
    open: show,
    toggle: (row: LogRow) => (row.id === rows[index]?.id ? close() : show(row)),
    close,
    move(step: 1 | -1) {
      const from = currentIndex();
      const next = rows[from + step];
      if (from >= 0 && next) show(next);
    },
  };
}

export type PeekState = ReturnType<typeof usePeek>;
