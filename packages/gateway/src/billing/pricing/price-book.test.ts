import { describe, expect, it } from "vitest";
import { createPriceBook, type PriceOptions } from "./price-book.ts";
import {
  defaultCacheRatioJson,
  defaultCompletionRatioJson,
  defaultModelPriceJson,
  defaultModelRatioJson,
  defaultModelRatios,
} from "./price-tables.ts";
import { resolveCompletionRatio } from "./default-ratios.ts";
import { listPrices } from "./price-data.ts";
import type { CallPrice, TokenPrice } from "./rates.ts";
import { toNumber } from "../money/ratio.ts";

function tokens(model: string, options?: PriceOptions): TokenPrice {
  const price = createPriceBook(options).find(model);
  if (price?.kind !== "tokens") throw new Error(`${model} is not priced by tokens`);
  return price;
}

function call(model: string, options?: PriceOptions): CallPrice {
  const price = createPriceBook(options).find(model);
  if (price?.kind !== "call") throw new Error(`${model} is not priced per call`);
  return price;
}

describe("audio", () => {
  it("is charged by the operator's ratios, and by the usual proportions where only one is set", () => {
    const options = { ModelRatio: { m: "2" }, AudioRatio: { m: "8" } };
    expect(tokens("m", options)).toMatchObject({ audioRatio: 8, audioCompletionRatio: 2 });
    const both = { ...options, AudioCompletionRatio: { m: "3" } };
    expect(tokens("m", both)).toMatchObject({ audioRatio: 8, audioCompletionRatio: 3, source: "operator" });
    expect(tokens("gpt-4o-audio-preview", { AudioRatio: { "gpt-4o-audio-preview": "4" } }).audioRatio).toBe(4);
  });
});

describe("default prices", () => {
  it("charges the default ratio of compatible gateways without a list price", () => {
    expect(tokens("ERNIE-4.0-8K")).toMatchObject({
      modelRatio: 8.219178082191782,
      completionRatio: 1,
      source: "built-in defaults",
      date: "2025-04-11",
    });
    expect(tokens("claude-3-opus-20240229")).toMatchObject({
      modelRatio: 7.5,
      completionRatio: 5,
      cacheRatio: 0.1,
      cacheWriteRatio: 1.25,
    });
  });

  it("charges the current list price where both are known", () => {
    expect(tokens("qwen-plus")).toMatchObject({
      modelRatio: 0.2,
      completionRatio: 3,
      source: "list price of ali",
      date: "2026-11",
    });
    expect(tokens("gpt-4o")).toMatchObject({ modelRatio: 1.25, completionRatio: 4, cacheRatio: 0.5 });
  });

  it("keeps an endless ratio of list prices exact", () => {
    const { weights, completionRatio } = tokens("gpt-3.5-turbo-instruct");
    expect(weights.exact.output * 3n).toBe(weights.exact.input * 4n);
    expect(completionRatio).toBeCloseTo(4 / 3, 15);
  });

  it("bills characters and seconds as compatible gateways do, at the list price", () => {
    expect(tokens("tts-1")).toMatchObject({ modelRatio: 7.5, source: "list price of openai" });
    expect(tokens("whisper-1")).toMatchObject({ modelRatio: 15, completionRatio: 1 });
  });

  it("charges images, searches and seconds of video per thing", () => {
    expect(call("aws/amazon.nova-canvas-v1:0")).toMatchObject({
      unit: "image",
      modelPrice: 0.06,
      hasImageFactors: false,
    });
    expect(call("rerank-english-v3.0")).toMatchObject({ unit: "query" });
    expect(call("doubao-seedance-2-0-260128")).toMatchObject({ unit: "second", modelPrice: 0.141942857 });
    expect(call("dall-e-3")).toMatchObject({
      unit: "call",
      modelPrice: 0.04,
      hasImageFactors: true,
      source: "built-in defaults",
    });
  });

  it("charges the image tokens of image models, and their thinking as text", () => {
    const price = tokens("gemini-3-pro-image");
    expect(price.hasImageTokens).toBe(true);
    expect(price.completionRatio).toBe(60);
    expect(price.weights.exact.reasoning * 10n).toBe(price.weights.exact.output);
    expect(tokens("gpt-image-1")).toMatchObject({ modelRatio: 2.5, completionRatio: 8, imageRatio: 2 });
  });

  it("knows audio by rule for old names and by list for current ones", () => {
    expect(tokens("gpt-4o-audio-preview-2024-10-01").audioRatio).toBe(40);
    expect(tokens("gpt-4o-realtime-preview")).toMatchObject({ audioRatio: 20, audioCompletionRatio: 2 });
    expect(tokens("gpt-realtime")).toMatchObject({ modelRatio: 2, audioRatio: 8, audioCompletionRatio: 2 });
  });

  it("finds names of resellers without the reseller", () => {
    expect(tokens("anthropic.claude-haiku-4-5-20251001-v1:0").source).toBe("list price of aws");
  });

  it("folds GPT names into their series", () => {
    expect(call("gpt-4-gizmo-g-abc")).toMatchObject({ modelPrice: 0.1 });
    expect(tokens("gpt-4o-gizmo-g-abc")).toMatchObject({ modelRatio: 2.5, completionRatio: 3 });
  });

  it("has default prices for tasks, and for nothing else", () => {
    expect(call("suno_something").modelPrice).toBe(0.1);
    expect(call("mj_imagine").modelPrice).toBe(0.1);
    expect(call("mj_inpaint").isFree).toBe(true);
    const book = createPriceBook();
    for (const name of ["no-such-model", "", "constructor", "__proto__", "toString"])
      expect(book.find(name)).toBeUndefined();
    expect(book.selfUsePrice).toMatchObject({ modelRatio: 1, isSelfUse: true });
  });

  it("turns every entry of the list into a price or leaves it to the operator", () => {
    const book = createPriceBook();
    const unpriced = [...listPrices()].filter(([name]) => !book.find(name)).map(([, { mode }]) => mode);
    expect(new Set(unpriced)).toEqual(new Set(["realtime"]));
    expect(book.models().length).toBeGreaterThan(1290);
  });
});

describe("options", () => {
  it("lets the operator win over every default", () => {
    const options = {
      ModelPrice: { "gpt-4": 0.5 },
      ModelRatio: { "qwen-plus": 3, "my-model": "0.125" },
      CompletionRatio: { "gpt-4o": 2, "my-model": 1.5 },
      CacheRatio: { "gpt-4o": 0.2 },
      CreateCacheRatio: { "gpt-4o": 3 },
    };
    expect(call("gpt-4", options)).toMatchObject({ modelPrice: 0.5, source: "operator" });
    expect(tokens("qwen-plus", options)).toMatchObject({ modelRatio: 3, completionRatio: 3, source: "operator" });
    expect(tokens("my-model", options)).toMatchObject({ modelRatio: 0.125, completionRatio: 1.5, source: "operator" });
    expect(tokens("gpt-4o", options)).toMatchObject({
      modelRatio: 1.25,
      completionRatio: 2,
      cacheRatio: 0.2,
      cacheWriteRatio: 3,
      source: "operator",
    });
  });

  it("does not take a stored default for the operator's word", () => {
    const ModelRatio = { ...defaultModelRatios(), mine: 1 };
    expect(tokens("qwen-plus", { ModelRatio })).toMatchObject({ modelRatio: 0.2, source: "list price of ali" });
    expect(tokens("ERNIE-4.0-8K", { ModelRatio }).source).toBe("built-in defaults");
  });

  it("forgets a built-in default that the operator removed", () => {
    expect(createPriceBook({ ModelRatio: {} }).find("ERNIE-4.0-8K")).toBeUndefined();
  });

  it("scales the tiers of long prompts with the operator's ratio", () => {
    const price = tokens("gemini-2.5-pro", { ModelRatio: { "gemini-2.5-pro": 1.25 } });
    expect(price.tiers).toMatchObject([{ above: 200_000, modelRatio: 2.5, completionRatio: 6 }]);
  });

  it("answers ratios of groups as text, and 1 for unknown groups", () => {
    const book = createPriceBook({ GroupRatio: { cheap: 0.8, exact: "0.0001" } });
    expect([book.groupRatio("cheap"), book.groupRatio("exact"), book.groupRatio("default")]).toEqual([
      "0.8",
      "0.0001",
      "1",
    ]);
    expect([book.hasGroup("cheap"), book.hasGroup("default")]).toEqual([true, false]);
  });

  it("shows the columns of the pricing page", () => {
    const book = createPriceBook();
    expect(book.row("gpt-4")).toEqual({ quotaType: 0, modelRatio: 15, modelPrice: 0, completionRatio: 2 });
    expect(book.row("dall-e-3")).toEqual({ quotaType: 1, modelRatio: 0, modelPrice: 0.04, completionRatio: 0 });
    expect(book.row("no-such-model")).toEqual({ quotaType: 0, modelRatio: 37.5, modelPrice: 0, completionRatio: 1 });
  });

  it("has the tables of compatible gateways as defaults", () => {
    expect(Object.keys(JSON.parse(defaultModelRatioJson()) as object)).toHaveLength(175);
    expect(Object.keys(JSON.parse(defaultModelPriceJson()) as object)).toHaveLength(21);
    expect(JSON.parse(defaultCompletionRatioJson())).toMatchObject({ "gpt-4-all": 2, "gpt-4-1106-preview": 3 });
    expect(JSON.parse(defaultCacheRatioJson())).toMatchObject({ "o3-mini": 0.5, "deepseek-coder": 0.25 });
  });
});

describe("completion ratios by rule", () => {
  it.each([
    ["gpt-4o-2024-05-13", 3],
    ["gpt-4o-mini", 4],
    ["gpt-4o-all", 1],
    ["gpt-4.5-preview-2025-02-27", 2],
    ["gpt-4-turbo-2024-04-09", 3],
    ["gpt-4-32k", 2],
    ["gpt-4-all", 1],
    ["o3-mini-high", 4],
    ["chatgpt-4o-latest", 3],
    ["claude-2.1", 3],
    ["anthropic/claude-3-opus", 5],
    ["gpt-3.5-turbo", 3],
    ["gpt-3.5-turbo-0125", 3],
    ["gpt-3.5-turbo-1106", 2],
    ["gpt-3.5-turbo-16k", 4 / 3],
    ["mistral-large", 3],
    ["gemini-1.5-pro", 4],
    ["gemini-2.5-pro-preview-03-25", 8],
    ["gemini-2.5-pro-exp-03-25", 4],
    ["command-r", 3],
    ["command-r-plus", 5],
    ["command-r-08-2024", 4],
    ["command-light", 4],
    ["DeepSeek-Chat", 4],
    ["deepseek-coder", 1],
    ["ERNIE-Speed-8K", 2],
    ["llama2-70b-4096", 1.25],
    ["llama3-70b-8192", 0.79 / 0.59],
    ["grok-2", 1],
  ])("%s", (name, expected) => {
    expect(toNumber(resolveCompletionRatio(name))).toBeCloseTo(expected, 14);
  });
});
