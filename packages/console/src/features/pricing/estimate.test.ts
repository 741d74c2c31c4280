import type { PricingRow } from "@fairway/wire";
import { expect, test } from "vitest";
import { calculateCost, parseCount } from "./estimate.ts";

const row = { model_name: "a", quota_type: 0, model_ratio: 1.25, completion_ratio: 4, model_price: 0 } as PricingRow;

test("tokens cost by the million, in the ratio of the group", () => {
  const usual = { input: 1_000, output: 500, requests: 1_000 };
  expect(calculateCost(row, 1, usual)).toBeCloseTo(2.5 + 5, 10);
  expect(calculateCost(row, 0.8, usual)).toBeCloseTo(6, 10);
});

test("a price per call knows no tokens", () => {
  const byCall = { ...row, quota_type: 1, model_price: 0.04 } as PricingRow;
  expect(calculateCost(byCall, 1, { input: 9, output: 9, requests: 10 })).toBeCloseTo(0.4, 10);
});

test("only whole numbers above 0 count", () => {
  expect(["800", "0", "-3", "1.5", "x", ""].map(parseCount)).toEqual([800, 0, 0, 0, 0, 0]);
});
