import { useEffect, useMemo, useRef, useState } from "react";
import type { Rows } from "../../lib/rows.ts";
import { toastProblem } from "../feedback/toaster.ts";
import type { Selection } from "./grid-props.ts";

/** The most rows that can be selected at once. */
const MAX_ROWS = 1_000;
const PAGE_ROWS = 100;

interface SelectionSource<Row> {
  readonly rows: readonly Row[] | undefined;
  readonly total: number | undefined;
  /** Identifies the filters: if they change, the selection is cleared. */
  readonly filter: string;
  getRowId(row: Row): number;
  /** Reads a page of all rows that match; pages are counted from 1. */
  read(page: number, size: number): Promise<Rows<Row>>;
}

const NONE: ReadonlySet<number> = new Set();

/** Manages the selected rows of a list: those of the page, or all that match the filters. */
export function useSelection<Row>(source: SelectionSource<Row>) {
  const { rows, total, filter, getRowId, read } = source;
  const [ids, setIds] = useState(NONE);
  const [others, setOthers] = useState<readonly Row[]>();
  const [isLoading, setLoading] = useState(false);
  const [known, setKnown] = useState(filter);
  const select = (next: ReadonlySet<number>) => {
    setIds(next);
    if (next.size === 0) setOthers(undefined);
  };
  if (known !== filter) {
    setKnown(filter);
    if (ids.size > 0) select(NONE);
  }
  useEffect(() => {
    if (!rows || others) return;
    const remaining = rows.map(getRowId).filter((id) => ids.has(id));
    if (remaining.length < ids.size) setIds(new Set(remaining));
  });
  const chosen = useMemo(() => {
    const byId = new Map([...(others ?? []), ...(rows ?? [])].map((row) => [getRowId(row), row]));
    return [...ids].flatMap((id) => byId.get(id) ?? []);
    // `idOf` reads a member of the row.
  }, [ids, rows, others]);
  const count = Math.min(total ?? 0, MAX_ROWS);
  const current = useRef(filter);
  current.current = filter;
  const selectAll = async () => {
    setLoading(true);
    try {
      const found = await readAll(read, count);
      if (current.current !== filter) return;
      setOthers(found);
      setIds(new Set(found.map(getRowId)));
    } catch (problem) {
      toastProblem(problem);
    } finally {
      setLoading(false);
    }
  };
  const selection: Selection = {
    ids,
    change: select,
    isBeyondPage: others !== undefined,
    ...(count > (rows?.length ?? 0) && { everything: { count, isLoading, select: () => void selectAll() } }),
  };
  return { selection, chosen, select };
}

async function readAll<Row>(read: SelectionSource<Row>["read"], count: number): Promise<Row[]> {
  const found: Row[] = [];
  for (let page = 1; found.length < count; page += 1) {
    const { rows } = await read(page, PAGE_ROWS);
    found.push(...rows);
    if (rows.length < PAGE_ROWS) break;
  }
  return found.slice(0, count);
}
