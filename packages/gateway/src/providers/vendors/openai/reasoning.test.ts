import { describe, expect, it } from "vitest";
import { createRequestSpec, createChannelRecord, requestTransformed } from "../../../../test/kit/provider-kit.ts";
import type { DialectId, JsonObject } from "../../../dialects/core/types.ts";
import { openai } from "./openai.ts";
import { reasoningModel } from "../../../dialects/bridges/parts/models/openai-models.ts";
import { needsResponses, reasoningResponses } from "./reasoning.ts";

const createBody = (json: Record<string, never> | object) => ({ bytes: Buffer.alloc(0), json: () => json as never });

describe("reasoningParams", () => {
  it("keeps the very object of models that do not reason", () => {
    const body = { model: "gpt-4.1-mini", messages: [], temperature: 0, max_tokens: 1 };
    expect(requestTransformed(openai, body)).toBe(body);
    const chat = { model: "gpt-5-chat-latest", messages: [], temperature: 1 };
    expect(requestTransformed(openai, chat)).toBe(chat);
  });

  it("keeps sampling when the effort is none and the model knows none", () => {
    const body = { model: "gpt-5.2", reasoning_effort: "none", temperature: 0.5, logit_bias: {} };
    expect(requestTransformed(openai, body)).toEqual({ model: "gpt-5.2", reasoning_effort: "none", temperature: 0.5 });
  });

  it.each([
    ["o3-mini-high", undefined, "o3-mini", "high"],
    ["o3-mini-2025-01-31-low", undefined, "o3-mini-2025-01-31", "low"],
    ["o3", "none", "o3", "low"],
    ["o3", "max", "o3", "high"],
    ["gpt-5", "xhigh", "gpt-5", "high"],
    ["gpt-5", "none", "gpt-5", "minimal"],
    ["gpt-5.6-terra", "max", "gpt-5.6-terra", "max"],
    ["gpt-5.6-terra", "minimal", "gpt-5.6-terra", "none"],
    ["gpt-5.2-pro", "low", "gpt-5.2-pro", "medium"],
    ["gpt-6-luna", "max", "gpt-6-luna", "max"],
  ])("%s with effort %s becomes %s with %s", (model, effort, name, expected) => {
    const body = { model, ...(effort ? { reasoning_effort: effort } : {}) };
    expect(requestTransformed(openai, body)).toEqual({ model: name, reasoning_effort: expected });
  });

  it("prefers the newer name of the limit and renames every system message", () => {
    const messages = [
      { role: "system", content: "a" },
      { role: "user", content: "b" },
    ];
    expect(requestTransformed(openai, { model: "o3", max_tokens: 1, max_completion_tokens: 2, messages })).toEqual({
      model: "o3",
      max_completion_tokens: 2,
      messages: [{ role: "developer", content: "a" }, messages[1]],
    });
  });
});

describe("reasoningResponses", () => {
  const apply = (body: JsonObject, dialect: DialectId) =>
    reasoningResponses.apply(body, createRequestSpec({ dialect }), body["model"] as string, createChannelRecord());

  it("repairs converted requests only", () => {
    const body = { model: "gpt-5.6-terra", temperature: 0.3, reasoning: { effort: "minimal" } };
    expect(apply(body, "openai-responses")).toBe(body);
    expect(apply(body, "openai-chat")).toEqual({
      model: "gpt-5.6-terra",
      temperature: 0.3,
      reasoning: { effort: "none" },
    });
    expect(apply({ model: "o3-high", top_p: 1 }, "anthropic-messages")).toEqual({
      model: "o3",
      reasoning: { effort: "high" },
    });
    const plain = { model: "gpt-5.6-terra", store: false };
    expect(apply(plain, "openai-chat")).toBe(plain);
  });

  it("does not ask a model that reasons for probabilities", () => {
    const probabilities = "message.output_text.logprobs";
    const asked = (...include: string[]) => ({ model: "gpt-5.6-terra", include, top_logprobs: 2 });
    expect(apply(asked(probabilities), "openai-chat")).toEqual({ model: "gpt-5.6-terra" });
    expect(apply(asked("reasoning.encrypted_content", probabilities), "openai-chat")).toEqual({
      model: "gpt-5.6-terra",
      include: ["reasoning.encrypted_content"],
    });
    const silent = { ...asked(probabilities), reasoning: { effort: "none" } };
    expect(apply(silent, "openai-chat")).toBe(silent);
  });
});

describe("reasoningModel", () => {
  it.each(["gpt-4o", "gpt-4.1", "chatgpt-4o-latest", "omni-moderation-latest", "gpt-image-2", "claude-opus-5"])(
    "%s does not reason",
    (model) => {
      expect(reasoningModel(model)).toBeUndefined();
    },
  );
});

describe("needsResponses", () => {
  const tools = [{ type: "function", function: { name: "f" } }];

  it("is so for tools with reasoning from gpt-5.4 on", () => {
    expect(needsResponses("gpt-5.4-mini", createBody({ tools }))).toBe(true);
    expect(needsResponses("gpt-6-luna", createBody({ tools }))).toBe(true);
    expect(needsResponses("gpt-5.2", createBody({ tools }))).toBe(false);
    expect(needsResponses("gpt-5.6-terra", createBody({ tools, reasoning_effort: "none" }))).toBe(false);
    expect(needsResponses("gpt-5.6-terra", createBody({ tools: [] }))).toBe(false);
    expect(needsResponses("gpt-5.6-terra", undefined)).toBe(false);
  });

  it.each([
    "o1-pro",
    "o3-pro-2025-06-10",
    "gpt-5-pro",
    "openai/gpt-5.5-pro",
    "gpt-5-codex",
    "gpt-5.1-codex-max",
    "codex-mini-latest",
    "o4-mini-deep-research",
  ])("%s is served nowhere else", (model) => {
    expect(needsResponses(model, createBody({ messages: [] }))).toBe(true);
  });

  it.each(["o3", "o3-mini", "gpt-5", "gpt-5.2-chat-latest", "gpt-5-programmer"])("%s is", (model) => {
    expect(needsResponses(model, createBody({ messages: [] }))).toBe(false);
  });
});
