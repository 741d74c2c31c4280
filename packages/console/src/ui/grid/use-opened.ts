import { useCallback } from "react";
import { useUrlState } from "../../lib/url-state.ts";

const DEFAULTS = { row: "" };

/** Returns the row whose detail is open; it is part of the address, so that a link shows the same. */
export function useOpened<Row extends { readonly id: number }>() {
  const [{ row }, change] = useUrlState(DEFAULTS);
  const opened = row === "" ? undefined : Number(row);
  const toggle = useCallback(({ id }: Row) => change({ row: id === opened ? "" : String(id) }), [change, opened]);
  return { opened, toggle };
}
