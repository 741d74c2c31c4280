import { describe, expect, it } from "vitest";
import { createRequestSpec, createChannelRecord } from "../../../../test/kit/provider-kit.ts";
import { thinkingSuffix } from "./thinking-suffix.ts";

function apply(model: string, body: Record<string, number>) {
  return thinkingSuffix.apply({ model, ...body }, createRequestSpec(), model, createChannelRecord());
}

describe("thinkingSuffix", () => {
  it("gives older models four fifths of the limit to think", () => {
    expect(apply("claude-3-7-sonnet-20250219-thinking", { max_tokens: 100, temperature: 1, top_p: 1 })).toEqual({
      model: "claude-3-7-sonnet-20250219",
      max_tokens: 1280,
      thinking: { type: "enabled", budget_tokens: 1024 },
    });
  });

  it("lets newer models decide", () => {
    expect(apply("claude-opus-4-8-thinking", { max_tokens: 100 })).toEqual({
      model: "claude-opus-4-8",
      max_tokens: 100,
      thinking: { type: "adaptive", display: "summarized" },
    });
  });

  it.each(["us.anthropic.claude-opus-4-8-thinking", "claude-opus-4.8-thinking", "claude-opus-4-6@20260101-thinking"])(
    "knows the generation of %s",
    (model) => {
      expect(apply(model, { max_tokens: 100 })).toMatchObject({ thinking: { type: "adaptive" } });
    },
  );

  it("is no part of the name where tokens are counted", () => {
    const body = { model: "claude-opus-4-8-thinking", messages: [] };
    const spec = createRequestSpec({ operation: "count_tokens", dialect: "anthropic-count-tokens" });
    expect(thinkingSuffix.apply(body, spec, body.model, createChannelRecord())).toEqual({
      model: "claude-opus-4-8",
      messages: [],
    });
    expect(thinkingSuffix.on).toContain("anthropic-count-tokens");
  });

  it("leaves other names alone", () => {
    const body = { model: "claude-opus-5" };
    expect(thinkingSuffix.apply(body, createRequestSpec(), "claude-opus-5", createChannelRecord())).toBe(body);
  });
});
