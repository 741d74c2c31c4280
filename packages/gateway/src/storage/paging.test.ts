import { expect, test } from "vitest";
import { LIST_PAGES, LOG_PAGES, pageOf, TOKEN_PAGES } from "./paging.ts";

test.each([
  [0, 0, LIST_PAGES, { limit: 10, offset: 0 }],
  [2, 25, LIST_PAGES, { limit: 25, offset: 50 }],
  [-3, -1, LIST_PAGES, { limit: 10, offset: 0 }],
  [1, 1_000, LIST_PAGES, { limit: 100, offset: 100 }],
  [0, 999, TOKEN_PAGES, { limit: 999, offset: 0 }],
  [0, 0, LOG_PAGES, { limit: 10, offset: 0 }],
  [1, 20, LOG_PAGES, { limit: 20, offset: 0 }],
  [3, 20, LOG_PAGES, { limit: 20, offset: 40 }],
])("page %s of size %s under %o is %o", (page, size, rules, rows) => {
  expect(pageOf(page, size, rules)).toEqual(rows);
});

test("a page beyond all rows stays a number that databases take", () => {
  expect(pageOf(Number.MAX_SAFE_INTEGER, 100, LIST_PAGES).offset).toBe(Number.MAX_SAFE_INTEGER);
});
