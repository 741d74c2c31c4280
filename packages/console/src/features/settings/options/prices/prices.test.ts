import { parsePriceTables, type ShownPrice } from "@fairway/wire";
import { expect, test } from "vitest";
import { listUnplannable, toPlannedPrices } from "./plans-api.ts";
import {
  toPriceCells,
  changedTexts,
  findFaults,
  isInForce,
  overtaken,
  formatRatios,
  buildPriceState,
} from "./prices.ts";

const TEXTS = {
  ModelPrice: '{"drawn":0.1}',
  ModelRatio: '{"gpt-4o":1.25000000000000000001,"mini":0.075}',
  CompletionRatio: '{"gpt-4o":4}',
  CacheRatio: "{}",
};
const EMPTY = { input: "", output: "", cached: "", call: "" };
const draft = (model: string, cells: Partial<typeof EMPTY>) => ({
  [model]: { cells: { ...EMPTY, ...cells }, began: buildPriceState(parsePriceTables(TEXTS), model) },
});
const price: ShownPrice = {
  by: "tokens",
  model_ratio: 0.075,
  completion_ratio: 4,
  cache_ratio: 0.1,
  model_price: 0,
  unit: "token",
  source: "operator",
  date: "",
};

test("dollars and ratios say the same, without dust", () => {
  expect(toPriceCells(price)).toEqual({ input: "0.15", output: "0.6", cached: "0.015", call: "" });
  expect(formatRatios(toPriceCells(price))).toBe("0.075 · 4 · 0.1");
  expect(formatRatios({ ...EMPTY, input: "3" })).toBe("1.5 · – · –");
  expect(toPriceCells(null)).toEqual(EMPTY);
  expect(isInForce({ ...EMPTY, input: "0.15" }, price)).toBe(true);
  expect(isInForce({ ...EMPTY, input: "0.2" }, price)).toBe(false);
});

test("a change touches its own model and its own options only", () => {
  expect(changedTexts(draft("mini", { input: "0.3", output: "1.2", cached: "0.03" }), TEXTS)).toEqual({
    ModelRatio: '{"gpt-4o":1.25000000000000000001,"mini":0.15}',
    CompletionRatio: '{"gpt-4o":4,"mini":4}',
    CacheRatio: '{"mini":0.1}',
  });
  expect(changedTexts(draft("gpt-4o", { call: "0.5" }), TEXTS)).toEqual({
    ModelPrice: '{"drawn":0.1,"gpt-4o":0.5}',
  });
  expect(changedTexts(draft("drawn", { input: "1" }), TEXTS)).toEqual({
    ModelPrice: "{}",
    ModelRatio: '{"gpt-4o":1.25000000000000000001,"mini":0.075,"drawn":0.5}',
  });
  expect(changedTexts(draft("gpt-4o", {}), TEXTS)).toEqual({ ModelRatio: '{"mini":0.075}', CompletionRatio: "{}" });
});

test("the cell reports text that is no price", () => {
  expect([...findFaults({ ...EMPTY, input: "1,5", output: "-1" })]).toEqual(["input", "output"]);
  expect([...findFaults({ ...EMPTY, input: "0", output: "2" })]).toEqual(["output"]);
  expect([...findFaults({ ...EMPTY, cached: "1" })]).toEqual(["cached"]);
  expect([...findFaults({ input: "x", output: "", cached: "", call: "." })]).toEqual(["call"]);
  expect(findFaults({ ...EMPTY, input: ".5", output: "0" }).size).toBe(0);
});

test("an edit is overtaken by a change of its own model only", () => {
  const edits = { ...draft("mini", { input: "1" }), ...draft("new", { input: "1" }) };
  expect(overtaken(edits, { ...TEXTS, ModelRatio: '{"mini":0.075,"gpt-4o":9}' })).toEqual([]);
  expect(overtaken(edits, { ...TEXTS, CacheRatio: '{"mini":0.5}' })).toEqual(["mini"]);
});

test("a plan needs a price: a draft that returns to the built-in one is named", () => {
  const drafts = { ...draft("gpt-4o", { input: "3" }), ...draft("mini", {}), ...draft("drawn", { call: "0.2" }) };
  expect(listUnplannable(drafts)).toEqual(["mini"]);
  expect(toPlannedPrices(drafts)).toEqual([
    { model: "gpt-4o", input: "3" },
    { model: "drawn", call: "0.2" },
  ]);
});
