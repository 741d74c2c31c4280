import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import type { JsonObject } from "../core/types.ts";

const hi = { role: "user", content: "hi" };
const tool = {
  type: "function",
  function: { name: "f", parameters: { type: "object", properties: { a: { type: "string" } } } },
};

describe("limits and formats by model", () => {
  const to = (model: string, body: object) =>
    run("openai-chat", "anthropic-messages", model).request({ messages: [hi], ...body });
  const format = {
    response_format: { type: "json_schema", json_schema: { name: "s", schema: { type: "object", properties: {} } } },
  };

  it.each([
    ["claude-3-opus-20240229", 4096],
    ["claude-3-5-sonnet-20241022", 8192],
    ["claude-3-7-sonnet-20250219", 64_000],
    ["claude-opus-4-1", 32_000],
    ["us.anthropic.claude-haiku-4-5-20251001-v1:0", 64_000],
    ["claude-sonnet-4@20250514", 64_000],
    ["claude-opus-4-8", 128_000],
    ["claude-fable-5-2", 128_000],
    ["another-vendors-model", 4096],
  ])("%s may write %d tokens", (model, tokens) => {
    expect(to(model, {})["max_tokens"]).toBe(tokens);
  });

  it("thinks by budget, by effort or not at all", () => {
    expect(to("claude-3-5-haiku", { reasoning_effort: "high" })).not.toHaveProperty("thinking");
    expect(to("claude-haiku-4-5", { reasoning_effort: "high", max_tokens: 2000 })["thinking"]).toEqual({
      type: "enabled",
      budget_tokens: 1999,
    });
    expect(to("claude-haiku-4-5", { reasoning_effort: "high", max_tokens: 500 })).not.toHaveProperty("thinking");
    expect(to("claude-sonnet-4-6", { reasoning_effort: "xhigh" })).toMatchObject({
      thinking: { type: "adaptive", display: "summarized" },
      output_config: { effort: "max" },
    });
    expect(to("claude-opus-4-8", { reasoning_effort: "xhigh" })).toMatchObject({ output_config: { effort: "xhigh" } });
    expect(to("claude-sonnet-5", { reasoning_effort: "none" })["thinking"]).toEqual({ type: "disabled" });
    const always = to("claude-opus-5-5", { reasoning_effort: "none" });
    expect([always["thinking"], always["output_config"]]).toEqual([undefined, { effort: "low" }]);
  });

  it("does not force a tool on a model that thinks by budget", () => {
    const body = to("claude-haiku-4-5", {
      reasoning_effort: "low",
      tools: [tool],
      tool_choice: "required",
      parallel_tool_calls: false,
    });
    expect(body["tool_choice"]).toEqual({ type: "auto", disable_parallel_tool_use: true });
  });

  it("does not force a tool on models that refuse it, and names that", () => {
    const reported = (model: string) => {
      const bridge = run("openai-chat", "anthropic-messages", model);
      const body = bridge.request({ messages: [hi], tools: [tool], tool_choice: "required" });
      return [(body["tool_choice"] as JsonObject)["type"], ...bridge.dropped];
    };
    for (const model of ["claude-opus-5-5", "claude-sonnet-5-5", "claude-fable-5-1"])
      expect(reported(model)).toEqual(["auto", "tool_choice"]);
    for (const model of ["claude-haiku-5-5", "claude-sonnet-5", "claude-fable-5", "another-vendors-model"])
      expect(reported(model)).toEqual(["any"]);
  });

  it("says no thinking in the words of the model", () => {
    for (const asked of [{ reasoning_effort: "none" }, { thinking: { type: "disabled" } }]) {
      expect(to("claude-sonnet-5-5", asked)["thinking"]).toEqual({ type: "between_tools" });
      expect(to("claude-haiku-5-5", asked)["thinking"]).toEqual({ type: "disabled" });
      expect(to("claude-opus-5-5", asked)).not.toHaveProperty("thinking");
    }
  });

  it("asks older models for JSON in words", () => {
    expect(to("claude-3-haiku-20240307", format)["system"]).toContain("JSON schema");
    expect(to("claude-haiku-4-5", format)["output_config"]).toMatchObject({ format: { type: "json_schema" } });
    expect(
      run("openai-chat", "gemini-generate", "gemini-2.5-pro").request({ messages: [hi], ...format })[
        "generationConfig"
      ],
    ).toHaveProperty("responseJsonSchema");
    expect(
      run("openai-chat", "gemini-generate", "gemini-2.0-flash").request({ messages: [hi], ...format })[
        "generationConfig"
      ],
    ).toHaveProperty("responseSchema");
  });

  it.each([
    ["gemini-2.5-pro", "none", { thinkingBudget: 128 }],
    ["gemini-2.5-flash", "none", { thinkingBudget: 0 }],
    ["gemini-2.5-flash", "medium", { thinkingBudget: 8192, includeThoughts: true }],
    ["gemini-3.1-pro-preview", "minimal", { thinkingLevel: "low", includeThoughts: true }],
    ["gemini-3.8-flash", "xhigh", { thinkingLevel: "high", includeThoughts: true }],
    ["gemini-3.8-flash", "none", { thinkingLevel: "minimal" }],
  ])("%s with effort %s", (model, effort, thinkingConfig) => {
    const body = run("openai-chat", "gemini-generate", model).request({ messages: [hi], reasoning_effort: effort });
    expect(body["generationConfig"]).toEqual({ thinkingConfig });
  });

  it("cuts recursive and closed schemas down to what Gemini takes", () => {
    const parameters = {
      $defs: {
        node: {
          type: "object",
          properties: { next: { $ref: "#/$defs/node" }, n: { type: "integer", format: "int64", default: 1 } },
        },
      },
      type: "object",
      additionalProperties: false,
      properties: {
        root: { $ref: "#/$defs/node" },
        kind: { const: "a" },
        list: { type: "array" },
        either: { oneOf: [{ type: "string" }, { type: "null" }] },
      },
    };
    const body = run("openai-chat", "gemini-generate", "gemini-2.5-pro").request({
      messages: [hi],
      tools: [{ type: "function", function: { name: "f", parameters } }],
    });
    expect(body["tools"]).toEqual([
      {
        functionDeclarations: [
          {
            name: "f",
            parameters: {
              type: "object",
              properties: {
                root: {
                  type: "object",
                  properties: { next: { type: "object" }, n: { type: "integer", format: "int64" } },
                },
                kind: { type: "string", enum: ["a"] },
                list: { type: "array", items: { type: "string" } },
                either: { type: "string", nullable: true },
              },
            },
          },
        ],
      },
    ]);
  });
});

describe("text completions and embeddings", () => {
  it("chat with one user and answer as text", () => {
    const completions = run("openai-completions", "openai-chat", "m");
    expect(completions.request({ prompt: "say", stop: "x" })).toMatchObject({
      messages: [{ role: "user", content: "say" }],
      max_tokens: 16,
      stop: "x",
    });
    expect(
      completions.answer({ id: "c", choices: [{ index: 0, message: { content: "hi" }, finish_reason: "stop" }] }),
    ).toEqual({
      id: "c",
      object: "text_completion",
      choices: [{ index: 0, text: "hi", logprobs: null, finish_reason: "stop" }],
    });
    const texts = completions.stream([
      { choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] },
      { choices: [{ index: 0, delta: { content: "hi" }, finish_reason: null }] },
      { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    ]);
    expect(texts.map(({ choices }) => (choices as JsonObject[])[0]?.["text"])).toEqual(["hi", ""]);
  });

  it("go one by one or in batches", () => {
    const openai = run("openai-embeddings", "gemini-embed", "e");
    expect(openai.request({ input: "a", dimensions: 2 })).toEqual({
      model: "models/e",
      content: { parts: [{ text: "a" }] },
      outputDimensionality: 2,
    });
    expect(openai.request({ input: ["a", "b"] })["requests"]).toHaveLength(2);
    expect(openai.answer({ embeddings: [{ values: [1] }, { values: [2] }] })["data"]).toMatchObject([
      { index: 0, embedding: [1] },
      { index: 1, embedding: [2] },
    ]);
    const gemini = run("gemini-embed", "openai-embeddings", "e");
    expect(gemini.request({ requests: [{ content: { parts: [{ text: "a" }] } }] })).toMatchObject({
      input: ["a"],
      encoding_format: "float",
    });
    expect(gemini.answer({ data: [{ index: 0, embedding: [1, 2] }] })).toEqual({ embeddings: [{ values: [1, 2] }] });
  });
});
