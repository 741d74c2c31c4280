import { describe, expect, it } from "vitest";
import { NO_USAGE } from "../../dialects/core/types.ts";
import { mappedNames } from "../../snapshot/mapped-names.ts";
import { toNumber } from "../money/ratio.ts";
import { charge } from "./price.ts";
import { createPriceBook, type PriceOptions } from "./price-book.ts";

const channel = (models: string[], mapping: Record<string, string>, status = 1) => ({
  status,
  models: new Set(models),
  modelMapping: new Map(Object.entries(mapping)),
});
const createBook = (channels: ReturnType<typeof channel>[], options: PriceOptions = {}) =>
  createPriceBook(options, mappedNames(channels));
const plain = createPriceBook();

describe("the price of a mapped name", () => {
  it("is that of the model it is mapped to, also along a chain, and says so", () => {
    const book = createBook([channel(["gpt-4", "mine"], { "gpt-4": "mine", mine: "gpt-4o-mini" })]);
    for (const name of ["gpt-4", "mine"]) {
      const { source, pricedAs, ...price } = book.find(name)!;
      const { source: listed, ...expected } = plain.find("gpt-4o-mini")!;
      expect(price).toEqual(expected);
      expect([source, pricedAs]).toEqual([`${listed}, as gpt-4o-mini`, "gpt-4o-mini"]);
      expect(book.charged(name)).toBe(book.find(name));
      expect(book.row(name)).toEqual(plain.row("gpt-4o-mini"));
    }
    expect(book.models()).toContain("mine");
    const spec = { model: "gpt-4" };
    const usage = { ...NO_USAGE, input: 1000, output: 1000 };
    const price = book.find("gpt-4")!;
    expect(charge(usage, price, { groupRatio: "1", spec })).toBeLessThan(1000);
  });

  it("is its own where the operator gave it one, in whatever table", () => {
    const mapped = [channel(["gpt-4"], { "gpt-4": "gpt-4o-mini" })];
    expect(createBook(mapped, { ModelRatio: { "gpt-4": 7 } }).row("gpt-4")).toMatchObject({ modelRatio: 7 });
    expect(createBook(mapped, { ModelPrice: { "gpt-4": 0.5 } }).row("gpt-4")).toMatchObject({ modelPrice: 0.5 });
    expect(createBook(mapped, { ModelRatio: { "gpt-4": 7 } }).find("gpt-4")).toMatchObject({ source: "operator" });
  });

  it("is that of the target that the operator priced", () => {
    const book = createBook([channel(["house"], { house: "llama" })], { ModelRatio: { llama: 0.5 } });
    expect(book.find("house")).toMatchObject({ modelRatio: 0.5, source: "operator, as llama", pricedAs: "llama" });
  });

  it("is the dearest where channels map it differently or serve it themselves", () => {
    const to = (target: string) => channel(["gpt-4"], { "gpt-4": target });
    const own = channel(["gpt-4"], {});
    expect(createBook([to("gpt-4o-mini"), to("gpt-4o")]).find("gpt-4")?.pricedAs).toBe("gpt-4o");
    expect(createBook([to("gpt-4o-mini"), own]).find("gpt-4")).toEqual(plain.find("gpt-4"));
    expect(createBook([to("gpt-4o-mini"), channel(["gpt-4"], {}, 2)]).find("gpt-4")?.pricedAs).toBe("gpt-4o-mini");
    expect(createBook([to("gpt-4o-mini"), channel(["gpt-4"], {}, 3)]).find("gpt-4")).toEqual(plain.find("gpt-4"));
  });

  it("is that of the last step that has one, before the name of a deployment", () => {
    const book = createBook([channel(["azure/gpt-4o"], { "azure/gpt-4o": "gpt-4o", "gpt-4o": "our-deployment" })]);
    expect(book.find("azure/gpt-4o")?.pricedAs).toBe("gpt-4o");
  });

  it("is its own where the target has none, and none where nothing has", () => {
    const book = createBook([channel(["gpt-4", "x"], { "gpt-4": "unheard", x: "unheard" })]);
    expect(book.find("gpt-4")).toEqual(plain.find("gpt-4"));
    expect(book.find("x")).toBeUndefined();
  });

  it("holds for surcharges, sizes of pictures and limits too", () => {
    const book = createBook([channel(["fast", "draw"], { fast: "claude-opus-4-6", draw: "dall-e-3" })]);
    expect(toNumber(book.surcharges.tierRatio("fast", "fast")!)).toBe(6);
    const image = { operation: "images.generations", size: "1024x1024", quality: "hd" } as const;
    const cost = (model: string) =>
      charge({ ...NO_USAGE, units: 1 }, book.find(model)!, { groupRatio: "1", spec: { ...image, model } });
    expect(cost("draw")).toBe(cost("dall-e-3"));
    expect(book.limits("fast")).toEqual(plain.limits("claude-opus-4-6"));
    expect(book.upstreamLimits("fast")).toEqual(plain.limits("fast"));
    const own = createBook([channel(["fast"], { fast: "claude-opus-4-6" })], { ServiceTierRatio: { "fast/fast": 3 } });
    expect(toNumber(own.surcharges.tierRatio("fast", "fast")!)).toBe(3);
  });
});
