import * as z from "zod/mini";
import { queryInt, queryText } from "./envelope.ts";

/** Rows per page if the caller sets no size. */
export const PAGE_SIZE = 10;
export const PAGE_SIZE_CAP = 100;
/** Maximum number of rows that a search returns. */
export const SEARCH_CAP = 1000;

/** Query members of every paged list whose first page is 0. */
export const pageFields = {
  p: queryInt,
  page_size: queryInt,
  /** Name of a column that the list allows; others fall back to the natural order. */
  sort: queryText,
  order: queryText,
};

export const pageQuery = z.object(pageFields);

export interface Page {
  readonly offset: number;
  readonly limit: number;
}

/**
 * Returns the rows to skip and to read; a missing or negative size means the default, a negative page means the first
 * one.
 */
export function resolvePage(
  query: { readonly p: number; readonly page_size: number },
  cap: number = PAGE_SIZE_CAP,
): Page {
  const limit = Math.min(query.page_size > 0 ? query.page_size : PAGE_SIZE, cap);
  return { offset: Math.max(0, query.p) * limit, limit };
}
