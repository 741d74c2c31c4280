import type { ShownPrice } from "@fairway/wire";
import { expect, test } from "vitest";
import { listPriceChanges } from "./price-changes.ts";

const tokens = (model: number, completion: number): ShownPrice => ({
  by: "tokens",
  model_ratio: model,
  completion_ratio: completion,
  cache_ratio: 0.5,
  model_price: 0,
  unit: "token",
  source: "operator",
  date: "",
});

test("names the numbers that change, with what they were", () => {
  const cells = { input: "3", output: "10.0", cached: "1.25", call: "" };
  expect(listPriceChanges({ price: tokens(1.25, 4), built_in: null }, cells)).toEqual([
    { cell: "input", before: "2.5", after: "3", numbers: { before: 2.5, after: 3 } },
  ]);
});

test("the price of a call takes the place of those of tokens", () => {
  const cells = { input: "2.5", output: "10", cached: "1.25", call: "0.1" };
  const changes = listPriceChanges({ price: tokens(1.25, 4), built_in: null }, cells);
  expect(changes.map(({ cell, before, after }) => [cell, before, after])).toEqual([
    ["input", "2.5", ""],
    ["output", "10", ""],
    ["cached", "1.25", ""],
    ["call", "", "0.1"],
  ]);
});

test("without a price of its own, a model has the built-in one", () => {
  const none = { input: "", output: "", cached: "", call: "" };
  const changes = listPriceChanges({ price: tokens(2, 4), built_in: tokens(1, 4) }, none);
  expect(changes.map(({ cell, after }) => [cell, after])).toEqual([
    ["input", "2"],
    ["output", "8"],
    ["cached", "1"],
  ]);
  expect(listPriceChanges({ price: null, built_in: null }, none)).toEqual([]);
});
