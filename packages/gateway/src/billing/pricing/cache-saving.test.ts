import { expect, test } from "vitest";
import { NO_USAGE } from "../../dialects/core/types.ts";
import { calculateCacheSaving } from "./cache-saving.ts";
import { createPriceBook } from "./price-book.ts";
import type { TokenPrice } from "./rates.ts";

const price = createPriceBook().find("claude-sonnet-4-5") as TokenPrice;

test.each([
  ["reads save", { cachedInput: 1000 }, "1", 1350],
  ["writes cost", { cacheWrite: 1000 }, "1", -375],
  ["writes for an hour cost more", { cacheWrite: 1000, cacheWrite1h: 1000 }, "1", -1500],
  ["the group ratio counts, and halves round up", { cachedInput: 1 }, "0.5", 1],
  ["a loss rounds to the nearest", { cacheWrite: 1 }, "1", 0],
])("%s", (_what, usage, groupRatio, saved) => {
  expect(calculateCacheSaving({ ...NO_USAGE, input: 5000, ...usage }, price, groupRatio)).toBe(saved);
});
