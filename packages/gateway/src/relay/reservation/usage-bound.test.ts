import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NO_USAGE, type Usage } from "../../dialects/core/types.ts";
import { boundUsage, usageBounds, type Answered } from "./usage-bound.ts";

const LISTED = { outputTokens: 16_384, contextTokens: 128_000, isReasoning: false };
const REASONING = { outputTokens: 100_000, contextTokens: 200_000, isReasoning: true };
const UNLISTED = { outputTokens: undefined, contextTokens: undefined, isReasoning: false };
const SPEC = { operation: "chat", promptEstimate: 20, units: 1 } as const;
const ONE = { cap: undefined, answers: 1 };
const BOUNDS = { input: 1_000, output: 100, units: 1 };

function bounds(part: Partial<Answered> = {}) {
  return usageBounds({ spec: SPEC, sent: ONE, limits: LISTED, bytes: 600, ...part });
}

describe("the bounds of usage", () => {
  it.each<readonly [string, Partial<Answered>, number]>([
    ["the bytes, of a model that shows what it says", {}, 4_096 + 4 * 600],
    ["the model's limit, of a long answer", { bytes: 10_000 }, 16_384],
    ["what arrived, where that is more than the limit", { bytes: 90_000 }, 90_000],
    ["the cap that was sent", { sent: { cap: 1_000, answers: 1 } }, 1_000],
    ["the cap that was sent, however much arrives", { sent: { cap: 1_000, answers: 1 }, bytes: 40_000 }, 1_000],
    ["the cap that was sent, also where the model thinks", { sent: { cap: 5, answers: 1 }, limits: REASONING }, 5],
    [
      "the thinking that a vendor bills beyond the cap",
      { sent: { cap: 5, answers: 2, reasoningBeyondCap: 70 }, limits: REASONING },
      150,
    ],
    ["each of several answers", { sent: { cap: undefined, answers: 2 }, bytes: 30_000 }, 32_768],
    ["the limit of a model that thinks", { limits: REASONING }, 100_000],
    ["a limit for any model, where none is listed", { limits: UNLISTED }, 32_768],
    ["a larger cap of its own", { limits: UNLISTED, sent: { cap: 50_000, answers: 1 } }, 50_000],
    ["the turns of hosted tools", { limits: REASONING, spec: { ...SPEC, hostedTools: ["web_search"] } }, 3_200_000],
    ["the limit, where bytes say nothing", { bytes: undefined }, 16_384],
  ])("of the output follow %s", (_what, part, output) => {
    expect(bounds(part).output).toBe(output);
  });

  it("of the input follow the context, else the prompt", () => {
    expect(bounds().input).toBe(256_000);
    expect(bounds({ limits: UNLISTED }).input).toBe(262_144);
    expect(bounds({ limits: UNLISTED, spec: { ...SPEC, promptEstimate: 500_000 } }).input).toBe(4_000_000);
  });

  it("of a transcript follow the recording", () => {
    const spec = { ...SPEC, operation: "audio.transcriptions" } as const;
    expect(bounds({ spec, upload: { seconds: 100 } }).units).toBe(260);
    expect(bounds({ spec }).units).toBe(86_400);
  });
});

describe("usage within bounds", () => {
  it("is the upstream's where it is possible", () => {
    const usage = { ...NO_USAGE, input: 1_000, output: 100, cachedInput: 900, cacheWrite: 100 };
    expect(boundUsage(usage, BOUNDS)).toBe(usage);
  });

  it("includes the reported numbers where it is impossible", () => {
    const usage = { ...NO_USAGE, input: 2_000, output: 1e12, reasoning: 1e12, cachedInput: 1_500, audioOutput: 500 };
    expect(boundUsage(usage, BOUNDS)).toEqual({
      ...NO_USAGE,
      input: 1_000,
      output: 100,
      reasoning: 100,
      cachedInput: 1_000,
      audioOutput: 100,
      reported: { input: 2_000, output: 1e12, units: 0 },
    });
  });

  it("has no part that is larger than the whole", () => {
    const count = fc.oneof(fc.nat(2_000), fc.constant(1e12));
    const usages = fc.record({
      ...Object.fromEntries(Object.keys(NO_USAGE).map((name) => [name, count])),
      source: fc.constant("upstream"),
    }) as unknown as fc.Arbitrary<Usage>;
    fc.assert(
      fc.property(usages, (usage) => {
        const found = boundUsage(usage, BOUNDS);
        expect(found.input).toBeLessThanOrEqual(BOUNDS.input);
        expect(found.cachedInput + found.cacheWrite).toBeLessThanOrEqual(found.input);
        expect(found.cacheWrite1h).toBeLessThanOrEqual(found.cacheWrite);
        expect(found.audioOutput).toBeLessThanOrEqual(found.output);
        expect(found.output).toBeLessThanOrEqual(BOUNDS.output);
      }),
    );
  });
});
