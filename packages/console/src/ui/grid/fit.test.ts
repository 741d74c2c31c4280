import { expect, test } from "vitest";
import { computeElasticShare, fittingColumns } from "./fit.ts";

const COLUMNS = [
  { id: "id", width: 50, isMinor: true },
  { id: "name", width: 200, isTitle: true },
  { id: "state", width: 100 },
  { id: "used", width: 100 },
  { id: "cost", width: 100, rank: 0 },
  { id: "weight", width: 50, isMinor: true },
];

const shown = (room: number, layout = {}, spare = 0) => [...fittingColumns(COLUMNS, room, layout, spare)];

test("shows every column where there is room", () => {
  expect(shown(600)).toEqual(["id", "name", "state", "used", "cost", "weight"]);
});

test("hides the columns of the highest rank first, from the right", () => {
  expect(shown(599)).toEqual(["id", "name", "state", "used", "cost"]);
  expect(shown(549)).toEqual(["name", "state", "used", "cost"]);
  expect(shown(499)).toEqual(["name", "state", "cost"]);
});

test("never hides columns of rank 0", () => {
  expect(shown(10)).toEqual(["name", "cost"]);
});

test("keeps what the user asked for, and hides what the user hid", () => {
  expect(shown(10, { shown: ["weight"] })).toEqual(["name", "cost", "weight"]);
  expect(shown(600, { hidden: ["name", "used"] })).toEqual(["id", "state", "cost", "weight"]);
});

test("hides as many more columns as the content needs", () => {
  expect(shown(600, {}, 1)).toEqual(["id", "name", "state", "used", "cost"]);
  expect(shown(599, {}, 1)).toEqual(["name", "state", "used", "cost"]);
});

test("the elastic column takes a part of the table, and never what leaves a hole", () => {
  const elastic = COLUMNS.map((column) => ({ ...column, isElastic: column.id === "name" }));
  expect(computeElasticShare(elastic)).toBe(53);
  expect(computeElasticShare(elastic.slice(0, 2))).toBe(60);
  expect(computeElasticShare(COLUMNS)).toBe(0);
});
