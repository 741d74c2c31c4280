import { describe, expect, it } from "vitest";
import { turnsThinkingOff } from "../../dialects/core/thinking.ts";
import { NO_USAGE, type JsonObject, type RequestSpec } from "../../dialects/core/types.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import type { RelayRequest } from "../request/request.ts";
import { learnReasoning, readOnFor } from "./output-reservation.ts";

const SNAPSHOT = {
  prices: {
    limits: (model: string) => ({
      isReasoning: model === "o3",
      contextTokens: /^(?:o3|gpt-4o)$/.test(model) ? 9 : undefined,
    }),
  },
  options: { ReadOnSeconds: 10, ReadOnTokens: 2_000 },
} as unknown as Snapshot;

function isReadOn(model: string, body: JsonObject = {}): boolean {
  const spec = {
    model,
    stream: true,
    operation: "chat",
    ...(turnsThinkingOff(body) && { isThinkingOff: true }),
  } as RequestSpec;
  return readOnFor({ spec } as RelayRequest, SNAPSHOT) !== undefined;
}

describe("a stream that its client leaves", () => {
  it("is read on where the model reasons by the price list", () => {
    expect(isReadOn("o3")).toBe(true);
    expect(isReadOn("gpt-4o")).toBe(false);
  });

  // @weakness Money: A client that leaves a stream pays for reasoning that its request had switched off
  it.each([
    [{ generationConfig: { thinkingConfig: { thinkingBudget: 0 } } }],
    [{ generation_config: { thinking_config: { thinking_budget: 0 } } }],
    [{ thinking: { type: "disabled" } }],
    [{ enable_thinking: false }],
    [{ reasoning_effort: "none" }],
    [{ reasoning: { effort: "none" } }],
    [{ reasoning: { enabled: false } }],
  ])("is not read on where %j switches reasoning off", (body) => {
    expect(isReadOn("o3", body)).toBe(false);
  });

  it("is read on where no list knows the model, until a whole answer of it has not reasoned", () => {
    const plain = { model: "model-of-my-own" } as RequestSpec;
    expect(isReadOn(plain.model)).toBe(true);
    learnReasoning(plain, { ...NO_USAGE, output: 50 }, false);
    expect(isReadOn(plain.model)).toBe(true);
    learnReasoning(plain, { ...NO_USAGE, output: 50, source: "counted" }, true);
    expect(isReadOn(plain.model)).toBe(true);
    learnReasoning(plain, { ...NO_USAGE, output: 50 }, true);
    expect(isReadOn(plain.model)).toBe(false);
    expect(isReadOn("another-of-my-own", { thinking: { type: "disabled" } })).toBe(false);
  });

  it("is read on where no list knows the model, and an answer of it has reasoned", () => {
    const spec = { model: "reasoner-of-my-own" } as RequestSpec;
    learnReasoning(spec, { ...NO_USAGE, output: 50, reasoning: 40 }, true);
    learnReasoning(spec, { ...NO_USAGE, output: 50 }, true);
    expect(isReadOn(spec.model)).toBe(true);
  });
});
