import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NO_USAGE } from "../../dialects/core/types.ts";
import { quota } from "../money/quota.ts";
import { estimate, type Estimated, outputCarried } from "./estimate.ts";
import { charge } from "./price.ts";
import { createPriceBook } from "./price-book.ts";

const OPTIONS = { preConsumedQuota: 500, defaultOutputTokens: 1000 };

function reserved(model: string, part: Partial<Estimated>, groupRatio = "1", options = OPTIONS): number {
  const price = createPriceBook({
    ModelRatio: { half: 0.5, free: 0 },
    ModelPrice: { "dall-e-3": 0.04, song: 0.1 },
    CompletionRatio: { half: 3 },
  }).find(model);
  if (!price) throw new Error(`${model} is not priced`);
  const ask: Estimated = { operation: "chat", model, promptEstimate: 0, outputCap: undefined, units: 1, ...part };
  return estimate(ask, price, groupRatio, options);
}

describe("a reservation", () => {
  it.each([
    ["the least prompt and the default output", "half", {}, "1", 1750],
    ["a long prompt and a cap", "half", { promptEstimate: 2001, outputCap: 10 }, "1", 1016],
    ["a cap of zero", "half", { outputCap: 0 }, "1", 250],
    ["the group", "half", { outputCap: 1 }, "0.333", 84],
    ["several answers", "half", { outputCap: 100, units: 3 }, "1", 700],
    ["no output of embeddings", "half", { operation: "embeddings", promptEstimate: 600, outputCap: 999 }, "1", 300],
    ["a price per call", "song", { operation: "chat", outputCap: 999, units: 5 }, "0.8", 40_000],
    [
      "images by number, size and quality",
      "dall-e-3",
      { operation: "images.generations", units: 2, size: "1792x1024", quality: "hd" },
      "1",
      120_000,
    ],
    ["no more than there is", "half", { promptEstimate: 2 ** 52 }, "9007199254740991", Number.MAX_SAFE_INTEGER],
    ["nothing for what is free", "free", { promptEstimate: 9999 }, "1", 0],
    ["nothing for a free group", "half", { promptEstimate: 9999 }, "0", 0],
    [
      "the largest image at an unnamed quality",
      "gpt-image-1",
      { operation: "images.generations" },
      "1",
      500 * 2.5 + 6240 * 20,
    ],
    [
      "images of a model that has a ratio only",
      "half",
      { operation: "images.generations", units: 2 },
      "1",
      250 + 2 * 625,
    ],
  ] as const)("covers %s", (...[, model, part, groupRatio, expected]) => {
    expect(reserved(model, part, groupRatio)).toBe(expected);
  });

  it("carries as much output as its amount pays for", () => {
    const price = createPriceBook().find("gpt-4o");
    if (!price) throw new Error("gpt-4o is not priced");
    const terms = { price, groupRatio: "0.77" };
    fc.assert(
      fc.property(fc.nat(2_000_000), fc.nat(50_000), (amount, promptEstimate) => {
        const ask = { operation: "chat", model: "gpt-4o", promptEstimate, outputCap: undefined, units: 1 } as const;
        const carried = outputCarried(quota(amount), ask, terms, OPTIONS);
        const estimateCost = (outputCap: number) => estimate({ ...ask, outputCap }, price, "0.77", OPTIONS);
        if (estimateCost(0) <= amount) expect(estimateCost(carried)).toBeLessThanOrEqual(amount);
        else expect(carried).toBe(0);
        expect(estimateCost(carried + 1)).toBeGreaterThan(amount);
      }),
    );
  });

  it("covers every charge that stays within the estimate and the cap", () => {
    const book = createPriceBook();
    const models = fc.constantFrom(
      "gpt-4o",
      "gpt-5",
      "claude-sonnet-4-5",
      "gemini-2.5-pro",
      "ERNIE-4.0-8K",
      "qwen-turbo",
    );
    fc.assert(
      fc.property(
        models,
        fc.nat(400_000),
        fc.nat(8000),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (model, prompt, cap, part) => {
          const price = book.find(model);
          if (!price) throw new Error(`${model} is not priced`);
          const ask = { operation: "chat", model, promptEstimate: prompt, outputCap: cap, units: 1 } as const;
          const output = Math.floor(cap * part);
          const usage = { ...NO_USAGE, input: Math.floor(prompt * part), output, reasoning: Math.floor(output / 2) };
          expect(estimate(ask, price, "0.77", OPTIONS)).toBeGreaterThanOrEqual(
            charge(usage, price, { groupRatio: "0.77", spec: ask }),
          );
        },
      ),
    );
  });
});
