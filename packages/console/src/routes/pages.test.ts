import { expect, test } from "vitest";
import { pages } from "./pages.ts";

test("no two pages share a shortcut or an address", () => {
  const keys = pages.flatMap(({ key }) => key ?? []);
  const paths = pages.map(({ path }) => path);
  expect(keys).toEqual([...new Set(keys)]);
  expect(paths).toEqual([...new Set(paths)]);
});
