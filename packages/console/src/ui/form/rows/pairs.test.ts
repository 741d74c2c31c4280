import { expect, test } from "vitest";
import { pairFaults, pairRows, pairText } from "./pairs.ts";

test("an object of texts and numbers is a table, and any other JSON is not", () => {
  expect(pairRows("")).toEqual([]);
  expect(pairRows('{"gpt-4o": "gpt-4o-mini", "400": 500}')).toEqual([
    { from: "400", to: "500" },
    { from: "gpt-4o", to: "gpt-4o-mini" },
  ]);
  for (const text of ["{", "[]", "null", '{"a": {}}', '{"a": null}']) expect(pairRows(text)).toBeUndefined();
});

test("rows without a name are not printed, and an empty table is no text", () => {
  expect(
    pairText([
      { from: " a ", to: " b " },
      { from: "", to: "c" },
    ]),
  ).toBe('{"a":"b"}');
  expect(pairText([{ from: "", to: "" }])).toBe("");
});

test("a row that lacks a side, or repeats a name, is marked", () => {
  const rows = [
    { from: "a", to: "b" },
    { from: "a", to: "c" },
    { from: "", to: "d" },
    { from: "e", to: "" },
    { from: "", to: "" },
  ];
  expect(rows.map(pairFaults(rows))).toEqual([[], ["from"], ["from"], ["to"], []]);
});
