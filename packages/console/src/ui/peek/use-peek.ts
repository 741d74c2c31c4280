import { useSearchParams } from "react-router";
import { writeState } from "../../lib/url-state.ts";

interface PeekInput<Row> {
  readonly rows: readonly Row[] | undefined;
  /** What the address says of a row. */
  getRowKey(row: Row): string;
  /** The place of the row that the address names, where its key is not the only way to say so. */
  findRowIndex?(rows: readonly Row[], key: string): number;
}

function keyInAddress(): string {
  return new URLSearchParams(location.search).get("row") ?? "";
}

/** Where the focus goes when the panel closes: the row, or the title where the list does not show the row. */
function focusRow(index: number): void {
  const row = document.querySelector<HTMLElement>(`.grid-row[data-index="${index}"]`);
  (row ?? document.querySelector("h1"))?.focus();
}

/** The row of a list that is open next to it, as the address says, and the ways to others. */
export function usePeek<Row>({ rows = [], getRowKey, findRowIndex }: PeekInput<Row>) {
  const [search, setSearch] = useSearchParams();
  const key = search.get("row") ?? "";
  const find = (wanted: string) => {
    if (wanted === "") return -1;
    return findRowIndex ? findRowIndex(rows, wanted) : rows.findIndex((row) => getRowKey(row) === wanted);
  };
  const index = find(key);
  /** Back closes the panel: only its opening is a step. */
  const change = (row: string) => {
    // From the address itself: keys may come faster than the page is drawn.
    const next = writeState(new URLSearchParams(location.search), {}, { row });
    setSearch(next, { preventScrollReset: true, replace: key !== "" });
  };
  const open = (row: Row) => change(getRowKey(row));
  const close = () => {
    const at = find(keyInAddress());
    change("");
    // The list is drawn without the panel first.
    requestAnimationFrame(() => focusRow(at));
  };
  return {
    /** "" = none is open. */
    key,
    /** Undefined for a link to a row that the list does not show. */
    listed: rows[index],
    hasPrevious: index > 0,
    hasNext: index >= 0 && index < rows.length - 1,
    open,
    toggle: (row: Row) => (index >= 0 && getRowKey(row) === key ? close() : open(row)),
    close,
    move(step: 1 | -1) {
      const from = find(keyInAddress());
      const next = rows[from + step];
      if (from >= 0 && next !== undefined) open(next);
    },
  };
}

export type PeekState<Row> = ReturnType<typeof usePeek<Row>>;

/** As `usePeek`, for rows whose address is their id. */
export function useRowPeek<Row extends { readonly id: number }>(rows: readonly Row[] | undefined) {
  const peek = usePeek({ rows, getRowKey: ({ id }: Row) => String(id) });
  return { ...peek, openedId: peek.listed?.id, id: /^[1-9]\d{0,14}$/.test(peek.key) ? Number(peek.key) : undefined };
}

export type RowPeekState<Row extends { readonly id: number }> = ReturnType<typeof useRowPeek<Row>>;
