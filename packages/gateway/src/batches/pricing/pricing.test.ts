import { parseOptions, type OptionValues } from "@fairway/wire";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { quota } from "../../billing/money/quota.ts";
import { createPriceBook, type PriceOptions } from "../../billing/pricing/price-book.ts";
import { NO_USAGE, type Operation, type RequestSpec, type Usage } from "../../dialects/core/types.ts";
import { priceOptionDefaults } from "../../snapshot/option-defaults.ts";
import { calculateDeposit, estimateItem, priceItem, requireModel } from "./items.ts";
import { freezeTerms, openTerms, type BatchTerms, type OpenTerms } from "./terms.ts";

interface Setup {
  readonly stored?: Readonly<Record<string, string>>;
  readonly prices?: PriceOptions;
  readonly operation?: Operation;
  readonly group?: string;
  readonly hasCachePrices?: boolean;
}

function readOptions(stored: Readonly<Record<string, string>> = {}): OptionValues {
  const rows = Object.entries(stored).map(([key, value]) => ({ key, value }));
  return parseOptions(rows, { defaults: priceOptionDefaults() });
}

function freeze(model: string, setup: Setup = {}): BatchTerms {
  const { operation = "chat", group = "default", hasCachePrices = true } = setup;
  const context = { prices: createPriceBook(setup.prices), options: readOptions(setup.stored) };
  return freezeTerms({ models: [model], operation, group, hasCachePrices }, context);
}

/** Returns the terms as they come back from the database. */
function open(model: string, setup?: Setup): OpenTerms {
  return openTerms(JSON.parse(JSON.stringify(freeze(model, setup))) as BatchTerms);
}

function price(model: string, usage: Partial<Usage>, setup?: Setup) {
  const terms = open(model, setup);
  return priceItem(terms, requireModel(terms, model), { ...NO_USAGE, ...usage });
}

describe("the charge of one request of a batch", () => {
  it.each([
    ["gpt-5.6", { input: 1000, output: 500 }, 3500, 7000],
    ["gpt-5.6", { input: 10, output: 2 }, 20, 40],
    ["gpt-5.6", { input: 2000, cachedInput: 1500, output: 100 }, 1150, 2300],
    ["claude-opus-5", { input: 1500, cachedInput: 1000, cacheWrite: 400, output: 50 }, 1188, 2375],
    ["gemini-3.5-flash", { input: 200, output: 80, reasoning: 30 }, 255, 510],
  ])("halves all rates of %s where the list says so: %o", (model, usage, charged, full) => {
    expect(price(model, usage)).toEqual({ quota: charged, full });
  });

  it("is rounded once, and costs at least one unit", () => {
    expect(price("gpt-5.6", { input: 1 }).quota).toBe(1);
    expect(price("gpt-5.6", {}).quota).toBe(0);
  });

  it("takes the ratio of the list as an exact fraction, not as a rounded decimal", () => {
    const terms = freeze("ft:gpt-4o-2024-08-06");
    expect(terms.models["ft:gpt-4o-2024-08-06"]).toMatchObject({ inputRatio: "89/150", outputRatio: "5/6" });
    expect(price("ft:gpt-4o-2024-08-06", { input: 3_000_000, output: 3_000_000 }).quota).toBe(
      3 * (2.225 + 12.5) * 500_000,
    );
  });

  it("gives no discount that neither the operator nor the list knows", () => {
    const prices = { ModelRatio: { "own-model": 1 } };
    const usage = { input: 1000 };
    expect(price("own-model", usage, { prices })).toEqual({ quota: 1000, full: 1000 });
    const stored = { BatchDefaultRatio: "0.25" };
    expect(price("own-model", usage, { prices, stored })).toEqual({ quota: 250, full: 1000 });
  });

  it("takes the default for the side that the list leaves out", () => {
    const terms = freeze("vertex/gemini-2.5-pro-preview-tts", { stored: { BatchDefaultRatio: "0.9" } });
    const [model] = Object.values(terms.models);
    expect(model).toMatchObject({ inputRatio: "0.5", outputRatio: "0.9" });
  });

  it("follows the operator's ratios, of a name before those of a pattern", () => {
    const stored = { BatchRatios: '{"gpt-*":{"input":0.8},"gpt-5.6":0.6}' };
    expect(price("gpt-5.6", { input: 1000, output: 500 }, { stored }).quota).toBe(4200);
    // The pattern leaves the output out, so the list decides it.
    const [other] = Object.values(freeze("gpt-4o", { stored }).models);
    expect(other).toMatchObject({ inputRatio: "0.8", outputRatio: "0.5" });
  });

  it("multiplies a price per call by the input ratio, and the group's ratio applies", () => {
    const prices = { ModelPrice: { "per-call": 0.01 }, GroupRatio: { default: 1, vip: 0.5 } };
    const stored = { BatchRatios: '{"per-call":{"input":0.5,"output":1}}' };
    expect(price("per-call", { input: 10, output: 10 }, { prices, stored })).toEqual({ quota: 2500, full: 5000 });
    expect(price("per-call", { input: 10 }, { prices, stored, group: "vip" }).quota).toBe(1250);
  });

  it("does not reduce what the vendor takes for its tools", () => {
    const plain = price("gpt-5.6", { input: 1000 });
    const searched = price("gpt-5.6", { input: 1000, toolCalls: { web_search: 2 } });
    expect(searched.quota - plain.quota).toBe(10_000);
    expect(searched.full - plain.full).toBe(10_000);
  });

  it("costs more in a place that costs more, and is not discounted twice by the tier of the batch", () => {
    const terms = open("claude-opus-5");
    const charge = (tiers: readonly string[]) =>
      priceItem(terms, requireModel(terms, "claude-opus-5"), { ...NO_USAGE, input: 10_000 }, { tiers });
    expect(charge(["geo_us"])).toEqual({ quota: 13_750, full: 27_500 });
    expect(charge(["batch", "flex", "priority", "geo_unknown"])).toEqual({ quota: 12_500, full: 25_000 });
  });

  it("charges cached tokens as input where the upstream has no cache prices in batches", () => {
    const usage = { input: 2000, cachedInput: 1500, cacheWrite: 100 };
    expect(price("gpt-5.6", usage, { hasCachePrices: false }).quota).toBe(2000);
  });

  it("uses the tier of each prompt", () => {
    const short = price("gpt-5.6", { input: 272_000 }).quota;
    const long = price("gpt-5.6", { input: 272_001 }).quota;
    expect(short).toBe(272_000);
    expect(long).toBe(544_002);
  });

  it("needs a price", () => {
    expect(() => freeze("unknown-model")).toThrow("No price is configured for unknown-model.");
  });
});

test("frozen terms charge the same as the price book for any usage without a discount", () => {
  const count = fc.nat(400_000);
  const models = fc.constantFrom("gpt-5.6", "claude-opus-5", "gemini-3.5-flash", "ft:gpt-4o-2024-08-06");
  const stored = { BatchRatios: '{"*":1}' };
  fc.assert(
    fc.property(models, count, count, count, (model, input, output, cached) => {
      const usage = { input, output, cachedInput: Math.min(cached, input) };
      const { quota: charged, full } = price(model, usage, { stored });
      expect(charged).toBe(full);
    }),
    { numRuns: 60 },
  );
});

describe("the estimate of one request of a batch", () => {
  const spec: RequestSpec = {
    operation: "chat",
    dialect: "openai-chat",
    model: "gpt-5.6",
    stream: false,
    wantsStreamUsage: false,
    outputCap: 200,
    promptEstimate: 1000,
    units: 1,
  };
  const estimate = (part: Partial<RequestSpec> = {}, stored: Readonly<Record<string, string>> = {}) => {
    const context = { prices: createPriceBook(), options: readOptions(stored) };
    return estimateItem(open("gpt-5.6"), { ...spec, ...part }, context);
  };

  it("is what the longest answer costs at the ratios of the batch", () => {
    expect(estimate()).toEqual({ amount: 2000, isUncapped: false });
  });

  it("assumes an output for a request without a limit, and says so", () => {
    expect(estimate({ outputCap: undefined })).toEqual({ amount: 1000 + 4096 * 5, isUncapped: true });
    const stored = { BatchAssumedOutput: "1000000" };
    expect(estimate({ outputCap: undefined }, stored).amount).toBe(1000 + 128_000 * 5);
  });

  it("covers the tools that the vendor may run", () => {
    expect(estimate({ hostedTools: ["web_search"], hostedCalls: 2 }).amount).toBe(12_000);
  });

  it("covers the charge of any answer within the limit", () => {
    const terms = open("gpt-5.6");
    fc.assert(
      fc.property(fc.nat(300_000), fc.nat(5_000), fc.nat(5_000), (input, cap, output) => {
        const { amount } = estimate({ promptEstimate: input, outputCap: cap });
        const usage = { ...NO_USAGE, input, output: Math.min(cap, output) };
        expect(amount).toBeGreaterThanOrEqual(priceItem(terms, requireModel(terms, "gpt-5.6"), usage).quota);
      }),
    );
  });
});

test("a deposit is a part of the estimates, rounded up, and all of them under a hard budget", () => {
  expect(calculateDeposit(quota(101), readOptions(), false)).toBe(101);
  const half = readOptions({ BatchDepositPercent: "50" });
  expect(calculateDeposit(quota(101), half, false)).toBe(51);
  expect(calculateDeposit(quota(101), half, true)).toBe(101);
  expect(calculateDeposit(quota(100), readOptions({ BatchDepositPercent: "150" }), true)).toBe(150);
  expect(calculateDeposit(Number.MAX_SAFE_INTEGER * 4, readOptions(), false)).toBe(Number.MAX_SAFE_INTEGER);
});
