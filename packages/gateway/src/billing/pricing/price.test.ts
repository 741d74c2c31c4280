import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NO_USAGE, type Usage } from "../../dialects/core/types.ts";
import { charge, chargeExactly, chargeFast, countUsage, type ChargeTerms } from "./price.ts";
import { createPriceBook, type PriceOptions } from "./price-book.ts";
import type { Price, TokenPrice } from "./rates.ts";
import { knownRatio, ratio } from "../money/ratio.ts";

interface Rates {
  mr?: number;
  cr?: number;
  kr?: number;
  kw?: number;
  mp?: number;
}

/** Returns a price as an operator would set it for an otherwise unknown model. */
function priced(rates: Rates, model = "some-model"): Price {
  const table = (value: number | undefined) => (value === undefined ? {} : { [model]: value });
  const options: PriceOptions = {
    ModelPrice: table(rates.mp),
    ModelRatio: table(rates.mr),
    CompletionRatio: table(rates.cr),
    CacheRatio: table(rates.kr),
    CreateCacheRatio: table(rates.kw),
  };
  const price = createPriceBook(options).find(model);
  if (!price) throw new Error("not priced");
  return price;
}

function used(part: Partial<Usage>): Usage {
  return { ...NO_USAGE, ...part };
}

function cost(rates: Rates, usage: Partial<Usage>, terms: Partial<ChargeTerms> = {}): number {
  return charge(used(usage), priced(rates), { groupRatio: "1", spec: { model: "some-model" }, ...terms });
}

describe("a charge by tokens", () => {
  it.each([
    ["plain", { mr: 1.25, cr: 4 }, { input: 1000, output: 500 }, "1", 3750],
    ["rounding down", { mr: 0.075, cr: 4 }, { input: 10, output: 5 }, "1", 2],
    ["a half rounds up", { mr: 0.25, cr: 1 }, { input: 5, output: 5 }, "1", 3],
    ["minimum", { mr: 0.075, cr: 4 }, { input: 1, output: 1 }, "1", 1],
    ["group", { mr: 15, cr: 2 }, { input: 100, output: 50 }, "0.8", 2400],
    ["free model", { mr: 0, cr: 4 }, { input: 1000, output: 500 }, "1", 0],
    ["free group", { mr: 15, cr: 4 }, { input: 1000, output: 500 }, "0", 0],
    ["cached input", { mr: 1.25, cr: 4, kr: 0.5 }, { input: 2000, cachedInput: 1500, output: 100 }, "1", 2063],
    [
      "cache write",
      { mr: 1.5, cr: 5, kr: 0.1, kw: 1.25 },
      { input: 1500, cachedInput: 1000, cacheWrite: 400, output: 50 },
      "1",
      1425,
    ],
    [
      "cache write for an hour",
      { mr: 1.5, cr: 5, kr: 0.1, kw: 1.25 },
      { input: 1500, cachedInput: 1000, cacheWrite: 400, cacheWrite1h: 400, output: 50 },
      "1",
      1875,
    ],
    ["audio", { mr: 2.5, cr: 4 }, { input: 110, audioInput: 100, output: 70, audioOutput: 50 }, "1", 10225],
    ["characters", { mr: 7.5 }, { input: 1000 }, "1", 7500],
    ["a transcript as tokens", { mr: 15, cr: 1 }, { output: 200 }, "1", 3000],
    ["embeddings", { mr: 0.01 }, { input: 1234 }, "1", 12],
    ["nothing used", { mr: 15, cr: 4 }, {}, "1", 0],
    ["reasoning is output", { mr: 1, cr: 4 }, { input: 10, output: 100, reasoning: 80 }, "1", 410],
    ["more cached than input", { mr: 1, cr: 1, kr: 0.5 }, { input: 100, cachedInput: 400, output: 0 }, "1", 50],
  ])("%s", (...[, rates, usage, groupRatio, expected]) => {
    expect(cost(rates, usage, { groupRatio })).toBe(expected);
  });

  it("counts negative, fractional and missing numbers as absent", () => {
    const odd = { input: -5, output: 10.5, cachedInput: Number.NaN, cacheWrite: -1, audioInput: Infinity };
    expect(cost({ mr: 1, cr: 1 }, { ...odd })).toBe(0);
    expect(cost({ mr: 1, cr: 1 }, { ...odd, input: 7 })).toBe(7);
  });

  it("bills seconds of a transcription whose answer holds no usage", () => {
    const ask = { model: "some-model", operation: "audio.transcriptions" } as const;
    expect(cost({ mr: 15 }, { units: 60 }, { spec: ask })).toBe(3000);
    expect(cost({ mr: 15 }, { units: 60.2 }, { spec: ask })).toBe(3050);
  });

  it("bills characters of speech whose answer holds no usage", () => {
    const book = createPriceBook();
    const speak = (model: string, units: number) =>
      charge(used({ units }), book.find(model) as Price, {
        groupRatio: "1",
        spec: { model, operation: "audio.speech" },
      });
    expect(speak("tts-1", 1000)).toBe(7500);
    expect(speak("tts-1-hd", 1000)).toBe(15_000);
    expect(speak("gpt-4o-mini-tts", 1000)).toBe(8075);
  });

  it("prefers the usage of a transcription to its seconds", () => {
    expect(
      cost(
        { mr: 1, cr: 1 },
        { input: 10, output: 5, units: 60 },
        { spec: { model: "some-model", operation: "audio.transcriptions" } },
      ),
    ).toBe(15);
  });

  it("bills images of a model without a price per call at a quarter of a cent per ratio", () => {
    const ask = { model: "some-model", operation: "images.generations", size: "1792x1024" } as const;
    expect(cost({ mr: 4 }, { units: 1 }, { spec: ask })).toBe(10_000);
  });

  it("adds surcharges for tools before it rounds", () => {
    const surcharges = [{ calls: 3, pricePerThousand: ratio("10") }];
    expect(cost({ mr: 0.25, cr: 1 }, { input: 5, output: 5 }, { surcharges, groupRatio: "0.5" })).toBe(7501);
  });

  it("charges a prompt past the threshold by its tier as a whole", () => {
    const price = createPriceBook().find("gemini-2.5-pro") as TokenPrice;
    const terms = { groupRatio: "1", spec: { model: "gemini-2.5-pro" } };
    expect(charge(used({ input: 200_000, output: 1000 }), price, terms)).toBe(200_000 * 0.625 + 1000 * 5);
    expect(charge(used({ input: 200_001, output: 1000 }), price, terms)).toBe(Math.round(200_001 * 1.25 + 1000 * 7.5));
  });
});

describe("a charge per call", () => {
  const image = { model: "dall-e-3", operation: "images.generations" } as const;
  it.each([
    ["group", { mp: 0.1 }, {}, "0.8", { model: "x" }, 40_000],
    ["hd and wide", { mp: 0.04 }, { units: 1 }, "1", { ...image, size: "1792x1024", quality: "hd" }, 60_000],
    ["hd", { mp: 0.04 }, { units: 1 }, "1", { ...image, size: "1024x1024", quality: "hd" }, 40_000],
    ["two images", { mp: 0.04 }, { units: 2 }, "1", { ...image, size: "1024x1024", quality: "standard" }, 40_000],
    ["a small image", { mp: 0.02 }, { units: 1 }, "1", { ...image, model: "dall-e-2", size: "256x256" }, 4000],
    ["fewer images than asked for", { mp: 0.04 }, { units: 0 }, "1", image, 0],
    ["tokens do not matter", { mp: 0.1 }, { input: 5, output: 7 }, "1", { model: "x" }, 50_000],
    ["a minimum", { mp: 0.0000001 }, {}, "1", { model: "x" }, 1],
    ["free", { mp: 0 }, { input: 5 }, "1", { model: "x" }, 0],
    [
      "characters do not multiply a price per call",
      { mp: 0.1 },
      { units: 400 },
      "1",
      { model: "x", operation: "audio.speech" },
      50_000,
    ],
    ["search units do", { mp: 0.002 }, { units: 3 }, "1", { model: "x", operation: "rerank" }, 3000],
  ] as const)("%s", (...[, rates, usage, groupRatio, ask, expected]) => {
    expect(cost(rates, usage, { groupRatio, spec: ask })).toBe(expected);
  });

  it("follows the operator's quota per dollar", () => {
    expect(cost({ mp: 0.1 }, {}, { quotaPerUnit: ratio(1_000_000) })).toBe(100_000);
  });
});

describe("exactness", () => {
  const count = fc.oneof(fc.nat(200), fc.nat(2_000_000));
  const usage = fc.record({
    input: count,
    output: count,
    cachedInput: count,
    cacheWrite: count,
    cacheWrite1h: count,
    reasoning: count,
    audioInput: fc.oneof(fc.constant(0), count),
    audioOutput: fc.oneof(fc.constant(0), count),
    imageInput: fc.oneof(fc.constant(0), count),
  });
  const decimal = (digits: number) => fc.nat(40 * 10 ** digits).map((value) => value / 10 ** digits);
  const rates = fc.record({
    mr: fc.oneof(decimal(2), decimal(4), decimal(9)),
    cr: decimal(3),
    kr: decimal(2),
    kw: decimal(2),
  });
  const group = fc.oneof(decimal(1), decimal(4)).map(String);

  it("takes the same amount on the fast path as in BigInt, wherever the fast path answers", () => {
    let answered = 0;
    fc.assert(
      fc.property(usage, rates, group, (part, by, groupRatio) => {
        const { weights } = priced(by) as TokenPrice;
        const counts = countUsage(used(part), undefined);
        const fast = chargeFast(counts, weights, knownRatio(groupRatio));
        if (fast === undefined) return;
        answered += 1;
        expect(fast).toBe(chargeExactly(counts, weights, { groupRatio, spec: { model: "" } }));
      }),
      { numRuns: 3000 },
    );
    expect(answered).toBeGreaterThan(500);
  });

  it("is a whole number at most half a unit away from the exact amount, or the minimum", () => {
    fc.assert(
      fc.property(usage, rates, group, (part, by, groupRatio) => {
        const quota = charge(used(part), priced(by), { groupRatio, spec: { model: "" } });
        const { weights } = priced(by) as TokenPrice;
        const counts = countUsage(used(part), undefined);
        const scaledGroup = knownRatio(groupRatio);
        const num =
          Object.entries(counts).reduce(
            (sum, [name, value]) => sum + BigInt(value) * weights.exact[name as "input"],
            0n,
          ) * scaledGroup.num;
        const den = weights.exact.denominator * scaledGroup.den;
        const twiceOff = 2n * (BigInt(quota) * den - num);
        expect(Number.isSafeInteger(quota) && quota >= 0).toBe(true);
        if (quota !== 1) expect(twiceOff <= den && twiceOff > -den).toBe(true);
        if (num > 0n) expect(quota).toBeGreaterThan(0);
      }),
      { numRuns: 2000 },
    );
  });
});
