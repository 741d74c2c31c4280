import { expect, test } from "vitest";
import { findings, readInventory, readTestFiles } from "./check.ts";

const IDS = { "C-001": "Roles", "C-002": "Quota" };
const FILES = new Map([["a.test.ts", 'test("roles (C-001)", f); test("quota is money (C-002)", f);']]);

test("accepts ids that are named", () => {
  expect(findings(IDS, FILES)).toEqual([]);
});

test("reports an id without a test, and one that is none", () => {
  const files = new Map([["a.test.ts", 'test("roles (C-001, C-900)", f);']]);
  expect(findings(IDS, files)).toEqual([
    "C-002 (Quota) has no test: name it in the title of one",
    "C-900 is no id of the inventory",
  ]);
});

test("the inventory of this repository holds", () => {
  const inventory = readInventory();
  expect(Object.keys(inventory)).toHaveLength(254);
  expect(findings(inventory, readTestFiles())).toEqual([]);
});
