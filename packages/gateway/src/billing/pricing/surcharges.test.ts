import { describe, expect, it } from "vitest";
import { NO_USAGE } from "../../dialects/core/types.ts";
import { estimate } from "./estimate.ts";
import { imageTier } from "./image-factor.ts";
import { charge, type Price } from "./price.ts";
import { createPriceBook } from "./price-book.ts";
import { createSurcharges, scaledPrice, tiersRatio } from "./surcharges.ts";
import { ratio, toNumber } from "../money/ratio.ts";

const BOOK = createPriceBook({ ModelPrice: { song: 0.1 } });

function requirePrice(model: string): Price {
  const price = BOOK.find(model);
  if (!price) throw new Error(`${model} is not priced`);
  return price;
}

describe("surcharges", () => {
  it.each([
    ["a tier of the price list", "priority", "gpt-4o-mini-2024-07-18", 0.25 / 0.15],
    ["the price list of any tier of the same name", "priority", "gpt-5.5", 2.5],
    ["a mode of one model, dated", "fast", "claude-opus-4-6-20260205", 6],
    ["a mode behind a vendor's name", "fast", "anthropic/claude-opus-5-5", 2],
    ["no mode of another model", "fast", "gpt-4o", undefined],
    ["no unknown tier", "scale", "gpt-4o", undefined],
  ])("know %s", (_what, tier, model, expected) => {
    const found = createSurcharges(undefined, undefined).tierRatio(tier, model);
    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found && toNumber(found)).toBeCloseTo(expected, 10);
  });

  it("are the operator's where there are some, of a model before all", () => {
    const { tierRatio, toolPrice } = createSurcharges(
      { web_search: 3, "web_search/a": 4 },
      { priority: 9, "priority/a": 1 },
    );
    const known = [tierRatio("priority", "gpt-4o"), tierRatio("priority", "a"), toolPrice("web_search", "a")];
    expect(known.map((one) => one && toNumber(one))).toEqual([9, 1, 4]);
    expect(toNumber(toolPrice("file_search", "a") ?? ratio(0))).toBe(2.5);
    expect(tiersRatio(["priority", "unknown"], "a", { tierRatio })).toBeUndefined();
  });

  it("multiply every part of a price, also of long prompts and of calls", () => {
    const spec = { model: "gemini-2.5-pro", operation: "chat" } as const;
    const terms = { groupRatio: "1", spec };
    for (const input of [1_000, 300_000]) {
      const usage = { ...NO_USAGE, input, output: 1_000, cachedInput: 100, reasoning: 10 };
      const plain = charge(usage, requirePrice("gemini-2.5-pro"), terms);
      const tripled = charge(usage, scaledPrice(requirePrice("gemini-2.5-pro"), ratio(3)), terms);
      expect(Math.abs(tripled - 3 * plain)).toBeLessThanOrEqual(2);
    }
    const call = scaledPrice(requirePrice("song"), ratio("1.5"));
    expect(charge(NO_USAGE, call, { groupRatio: "1", spec: { model: "song" } })).toBe(75_000);
  });
});

describe("dear tokens", () => {
  const OPTIONS = { preConsumedQuota: 0, defaultOutputTokens: 0 };
  it.each([
    ["cache writes", "claude-opus-4-6", ["write"], 1_250 * 2.5 + 100 * 12.5],
    ["cache writes for an hour", "claude-opus-4-6", ["write", "write1h"], 2_000 * 2.5 + 100 * 12.5],
    ["sound that comes in", "gpt-4o-audio-preview", ["audioInput"], 1_000 * 20 + 100 * 5],
    ["sound that goes out", "gpt-4o-audio-preview", ["audioOutput"], 1_000 * 1.25 + 100 * 40],
  ] as const)("decide the reservation: %s", (_what, model, dearTokens, expected) => {
    const ask = { operation: "chat", model, promptEstimate: 1_000, outputCap: 100, units: 1, dearTokens } as const;
    const [amount, plain] = [ask, { ...ask, dearTokens: [] }].map((one) =>
      estimate(one, requirePrice(model), "1", OPTIONS),
    );
    expect(amount).toBeGreaterThan(plain ?? 0);
    if (model === "claude-opus-4-6") expect(amount).toBe(expected);
  });
});

describe("images", () => {
  it.each([
    [undefined, undefined, undefined],
    ["1024x1024", "standard", undefined],
    ["2048x2048", "auto", undefined],
    ["1024x1024", "HD", "image_hd"],
    ["4096x4096", undefined, "image_4k"],
    ["4K", "medium", "image_4k"],
  ])("of size %s and quality %s have the tier %s", (size, quality, tier) => {
    expect(imageTier(size, quality)).toBe(tier);
  });

  it("whose answer reports no tokens cost what their quality takes", () => {
    const costs = ["low", "medium", "high", undefined].map((quality) =>
      charge({ ...NO_USAGE, units: 1 }, requirePrice("gpt-image-1"), {
        groupRatio: "1",
        spec: { model: "gpt-image-1", operation: "images.generations", ...(quality && { quality }) },
      }),
    );
    expect(costs).toEqual([408 * 20, 1_584 * 20, 6_240 * 20, 1_056 * 20]);
  });
});
