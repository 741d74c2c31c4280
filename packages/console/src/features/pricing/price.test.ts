import type { PricingRow } from "@fairway/wire";
import { expect, test } from "vitest";
import { dollars, calculatePrice, short } from "./price.ts";

const byTokens: PricingRow = {
  model_name: "gpt-4o",
  quota_type: 0,
  model_ratio: 1.25,
  model_price: 0,
  owner_by: "",
  completion_ratio: 4,
  enable_groups: ["default"],
};

test("ratios become dollars per million tokens in the group (C-348)", () => {
  expect(calculatePrice(byTokens, 1)).toEqual({ input: 2.5, output: 10, call: undefined });
  expect(calculatePrice(byTokens, 0.5)).toEqual({ input: 1.25, output: 5, call: undefined });
});

test("a price per call takes the group ratio and names no token prices", () => {
  expect(calculatePrice({ ...byTokens, quota_type: 1, model_price: 0.04 }, 2)).toEqual({
    input: undefined,
    output: undefined,
    call: 0.08,
  });
});

test("dollars have six significant digits at most and no dust", () => {
  expect(dollars(0.1 * 3, "en")).toBe("$0.30");
  expect(dollars(0.000123456789, "en")).toBe("$0.000123457");
  expect(dollars(1234.5, "en")).toBe("$1,234.50");
  expect(dollars(undefined, "en")).toBe("–");
});

test("ratios have six significant digits at most", () => {
  expect([25 / 3, 1.25, 8, 0.1 * 3].map(short)).toEqual([8.33333, 1.25, 8, 0.3]);
});
