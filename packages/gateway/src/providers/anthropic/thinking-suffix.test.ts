import { describe, expect, it } from "vitest";
import { askOf, channelOf } from "../../../test/provider-kit.ts";
import { thinkingSuffix } from "./thinking-suffix.ts";

function apply(model: string, body: Record<string, number>) {
  return thinkingSuffix.apply({ model, ...body }, askOf(), model, channelOf());
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
      thinking: { type: "adaptive" },
    });
  });

  it("leaves other names alone", () => {
    const body = { model: "claude-opus-5" };
    expect(thinkingSuffix.apply(body, askOf(), "claude-opus-5", channelOf())).toBe(body);
  });
});
