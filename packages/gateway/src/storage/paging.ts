/** A page of a list, in rows. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
}

export interface PageRules {
  /** Number that callers give the first page: lists of logs start at 1, all others at 0. */
  readonly first: 0 | 1;
  /** Size where none is asked for. */
  readonly size: number;
  readonly largest: number;
}

export const LIST_PAGES: PageRules = { first: 0, size: 10, largest: 100 };
export const TOKEN_PAGES: PageRules = { first: 0, size: 10, largest: 1_000 };
export const LOG_PAGES: PageRules = { first: 1, size: 10, largest: 100 };

/** Rows that a search answers at most. */
export const SEARCH_ROWS = 1_000;

/** Page numbers before the first mean the first; a size of 0 or less means the default. */
export function pageOf(page: number, size: number, rules: PageRules): Page {
  const limit = size > 0 ? Math.min(Math.floor(size), rules.largest) : rules.size;
  const before = Math.max(0, Math.floor(page) - rules.first);
  return { limit, offset: Math.min(before * limit, Number.MAX_SAFE_INTEGER) };
}
