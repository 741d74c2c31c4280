import { useSearchParams } from "react-router";
import { changeAddress } from "../../lib/url-state.ts";

interface PeekInput<Row> {
  readonly rows: readonly Row[] | undefined;
  /** Returns the key of a row in the address. */
  getRowKey(row: Row): string;
  /** Returns the index of the row that the address names, if its key is not the only way to name it. */
  findRowIndex?(rows: readonly Row[], key: string): number;
}

function keyInAddress(): string {
  return new URLSearchParams(location.search).get("row") ?? "";
}

/** Focuses the row when the panel closes, or the title if the list does not contain the row. */
function focusRow(index: number): void {
  const row = document.querySelector<HTMLElement>(`.grid-row[data-index="${index}"]`);
  (row ?? document.querySelector("h1"))?.focus();
}

/** Returns the row that is open next to its list, according to the address, and functions to open others. */
export function usePeek<Row>({ rows = [], getRowKey, findRowIndex }: PeekInput<Row>) {
  const [search, setSearch] = useSearchParams();
  const key = search.get("row") ?? "";
  const find = (wanted: string) => {
    if (wanted === "") return -1;
    return findRowIndex ? findRowIndex(rows, wanted) : rows.findIndex((row) => getRowKey(row) === wanted);
  };
  const index = find(key);
  /** Back closes the panel, because only opening it adds a history entry. */
  const change = (row: string) => {
    setSearch(changeAddress({}, { row }), { preventScrollReset: true, replace: key !== "" });
  };
  const open = (row: Row) => change(getRowKey(row));
  const close = () => {
    const at = find(keyInAddress());
    change("");
    // The list renders without the panel first.
    requestAnimationFrame(() => focusRow(at));
  };
  return {
    /** "" = none is open. */
    key,
    /** Undefined for a link to a row that the list does not contain. */
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

/** Works like `usePeek`, for rows whose key is their id. */
export function useRowPeek<Row extends { readonly id: number }>(rows: readonly Row[] | undefined) {
  const peek = usePeek({ rows, getRowKey: ({ id }: Row) => String(id) });
  return { ...peek, openedId: peek.listed?.id, id: /^[1-9]\d{0,14}$/.test(peek.key) ? Number(peek.key) : undefined };
}

export type RowPeekState<Row extends { readonly id: number }> = ReturnType<typeof useRowPeek<Row>>;
