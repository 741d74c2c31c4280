import { useCallback } from "react";
import { stored } from "../../lib/storage.ts";
import { parsePage, useUrlState } from "../../lib/url-state.ts";

const DEFAULT_SIZE = 10;

/**
 * Manages paging, sorting and filters of a list page. They are in the address, so that reload and Back restore them.
 */
export function useList<F extends Readonly<Record<string, string>>>(
  defaults: F & { p: string; size: string; sort: string },
) {
  const [state, change] = useUrlState<Readonly<Record<string, string>>>(defaults);
  const size = Number(state.size) || (stored.pageSize.read() ?? DEFAULT_SIZE);
  const page = parsePage(state.p ?? "");
  const filter = useCallback((wanted: Partial<Record<keyof F, string>>) => change({ ...wanted, p: "" }), [change]);
  const filterNames = Object.keys(defaults).filter((name) => !["p", "size", "sort"].includes(name));
  const isFiltered = filterNames.some((name) => state[name] !== defaults[name]);
  return {
    /** Stays the same while page and order change: what the rows must match. */
    filterKey: filterNames.map((name) => state[name]).join("\n"),
    state: state as Record<keyof F | "sort", string>,
    page,
    size,
    filter,
    isFiltered,
    clear: () => change({ ...Object.fromEntries(filterNames.map((name) => [name, ""])), p: "" }),
    sort: (sort: string) => change({ sort, p: "" }),
    pager: (total: number | undefined) => ({
      page,
      size,
      total,
      onPage: (next: number) => change({ p: String(next) === "1" ? "" : String(next) }),
      onSize: (next: number) => {
        stored.pageSize.write(next);
        change({ size: "", p: "" });
      },
    }),
  };
}

/** The members of the address that every list has. */
export const LIST_DEFAULTS = { p: "", size: "", sort: "" } as const;
