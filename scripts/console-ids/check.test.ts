import { expect, test } from "vitest";
import { findings, readInventory, readTestFiles } from "./check.ts";

const INVENTORY = {
  ids: { "C-001": "Roles", "C-002": "Quota", "C-003": "Numbers" },
  covered: { "C-002": { file: "a.test.ts", title: "quota is money" } },
  open: ["C-003"],
  mostOpen: 1,
};
const FILES = new Map([["a.test.ts", 'test("roles (C-001)", f); test("quota is money", f);']]);

test("accepts ids that are named, covered or listed as open", () => {
  expect(findings(INVENTORY, FILES)).toEqual([]);
});

test("reports an id without a test", () => {
  expect(findings({ ...INVENTORY, open: [], mostOpen: 0 }, FILES)).toEqual([
    "C-003 (Numbers) has no test: name it in the title of one",
  ]);
});

test("reports an open id that has a test, and a longer list", () => {
  expect(findings({ ...INVENTORY, open: ["C-001", "C-003"] }, FILES)).toEqual([
    "C-001 has a test: take it out of open.json",
    "open.json lists 2 ids, and may list 1 at most",
  ]);
});

test("reports a test that no longer exists, and ids that are none", () => {
  const covered = { "C-002": { file: "a.test.ts", title: "gone" }, "C-900": { file: "a.test.ts", title: "roles" } };
  expect(findings({ ...INVENTORY, covered }, FILES)).toEqual([
    "C-900 is no id of the inventory",
    "C-002: a.test.ts has no test “gone”",
  ]);
});

test("the list of open ids gets shorter or stays", () => {
  expect(findings({ ...INVENTORY, mostOpen: 5 }, FILES)).toEqual([
    "open.json lists 1 ids: lower MOST_OPEN to that number",
  ]);
});

test("the inventory of this repository holds", () => {
  const inventory = readInventory();
  expect(Object.keys(inventory.ids)).toHaveLength(254);
  expect(findings(inventory, readTestFiles())).toEqual([]);
});
