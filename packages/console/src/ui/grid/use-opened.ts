import { useCallback } from "react";
import { useUrlState } from "../../lib/url-state.ts";

const DEFAULTS = { row: "" };

/** Opens the first row, whichever it is. */
const LATEST = "latest";

/** Returns the row whose detail is open; it is part of the address, so that a link shows the same. */
export function useOpened<Row extends { readonly id: number }>(rows?: readonly Row[]) {
  const [{ row }, change] = useUrlState(DEFAULTS);
  const first = rows?.[0]?.id;
  const opened = row === "" ? undefined : row === LATEST ? first : Number(row);
  const toggle = useCallback(({ id }: Row) => change({ row: id === opened ? "" : String(id) }), [change, opened]);
  return { opened, toggle };
}
