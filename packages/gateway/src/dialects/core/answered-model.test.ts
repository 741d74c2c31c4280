import { describe, expect, it } from "vitest";
import { isSameModel, modelIn, modelInEvent } from "./answered-model.ts";

describe("the model that an answer names", () => {
  it.each([
    ["gpt-4o", "gpt-4o-2024-08-06"],
    ["gpt-4o", "openai/gpt-4o"],
    ["models/gemini-2.5-flash", "gemini-2.5-flash-preview-05-20"],
    ["claude-sonnet-4-5-20250929", "claude-sonnet-4-5"],
    ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"],
    ["gpt-4-0613", "GPT-4"],
    ["llama3:8b", "llama3"],
    ["mistral-large-latest", "mistral-large-2411"],
  ])("%s and %s are one", (asked, answered) => {
    expect(isSameModel(asked, answered)).toBe(true);
  });

  it.each([
    ["gpt-4o", "gpt-4o-mini"],
    ["gpt-5", "gpt-5-pro"],
    ["claude-haiku-4-5", "claude-opus-4-5"],
    ["gemini-2.5-flash", "gemini-2.5-pro"],
    ["deepseek-chat", "deepseek-reasoner"],
  ])("%s and %s are two", (asked, answered) => {
    expect(isSameModel(asked, answered)).toBe(false);
  });

  it("is read in every protocol", () => {
    expect(modelIn({ model: "a" })).toBe("a");
    expect(modelIn({ modelVersion: "b" })).toBe("b");
    expect(modelInEvent({ type: "message_start", message: { model: "c" } })).toBe("c");
    expect(modelInEvent({ type: "response.created", response: { model: "d" } })).toBe("d");
    expect(modelInEvent({ type: "ping" })).toBeUndefined();
  });
});
