import { describe, expect, it } from "vitest";
import { createPriceBook } from "./price-book.ts";

describe("limits of a model", () => {
  it.each([
    ["stand in the price list", "gpt-4o", 16_384, 128_000, false],
    ["stand there under a reseller's name", "anthropic.claude-opus-4-6-v1", 128_000, 1_000_000, true],
    ["are those of the model behind a vendor's name", "openai/gpt-5", 128_000, 272_000, true],
    ["of a retired model stand in a table", "claude-3-5-sonnet-20241022", 8_192, 200_000, false],
    ["follow the longest name of that table", "gpt-4-1106-preview", 4_096, 128_000, false],
    ["of any other model are not known", "my-own-model", undefined, undefined, false],
  ])("%s", (...[, model, outputTokens, contextTokens, isReasoning]) => {
    expect(createPriceBook().limits(model)).toEqual({ outputTokens, contextTokens, isReasoning });
  });

  it("are the operator's where there is one", () => {
    const book = createPriceBook({ ModelOutputTokens: { "gpt-4o": 100, "my-own-model": 7.5 } });
    expect(book.limits("gpt-4o").outputTokens).toBe(100);
    expect(book.limits("my-own-model").outputTokens).toBe(7);
  });
});
