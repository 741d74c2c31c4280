// Reasoning that clients send back: to the vendor that encrypted it, and to open models that need to read it.
import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import type { JsonObject } from "../core/types.ts";

const item = {
  type: "reasoning",
  id: "rs_1",
  summary: [{ type: "summary_text", text: "let me think" }],
  encrypted_content: "gAAAAAB+/x==",
};
const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: "f", arguments: "{}" };
const tools = [{ name: "f", input_schema: { type: "object" } }];
const question = { role: "user", content: "hi" };
const thinking = { type: "enabled", budget_tokens: 1280 };

describe("reasoning that OpenAI encrypted", () => {
  const bridge = () => run("anthropic-messages", "openai-responses", "gpt-5.2");
  const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: "21" }] };

  it("is asked for when an Anthropic client thinks, and comes back as it was", () => {
    const first = bridge();
    expect(first.request({ messages: [question], max_tokens: 2000, tools, thinking })["include"]).toEqual([
      "reasoning.encrypted_content",
    ]);
    const content = first.answer({ id: "resp_1", status: "completed", output: [item, call] })[
      "content"
    ] as JsonObject[];
    expect(content).toMatchObject([
      { type: "thinking", thinking: "let me think" },
      { type: "tool_use", id: "call_1" },
    ]);
    expect(content[0]?.["signature"]).toMatch(/^[A-Za-z0-9+/]+=*$/);
    const messages = [question, { role: "assistant", content }, result];
    expect(bridge().request({ messages, max_tokens: 2000, tools, thinking })["input"]).toMatchObject([
      { role: "user" },
      item,
      { type: "function_call", call_id: "call_1" },
      { type: "function_call_output", output: "21" },
    ]);
  });

  it("comes in a stream as the signature of the thinking before it", () => {
    const at = { output_index: 0, item_id: "rs_1", summary_index: 0 };
    const events = bridge().stream([
      { type: "response.created", response: { id: "resp_1", model: "gpt-5.2" } },
      { type: "response.output_item.added", output_index: 0, item: { ...item, summary: [], encrypted_content: "x" } },
      { type: "response.reasoning_summary_part.added", ...at, part: { type: "summary_text", text: "" } },
      { type: "response.reasoning_summary_text.delta", ...at, delta: "let me think" },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.output_item.added", output_index: 1, item: { ...call, arguments: "" } },
      { type: "response.function_call_arguments.delta", output_index: 1, item_id: "fc_1", delta: "{}" },
      { type: "response.output_item.done", output_index: 1, item: call },
      { type: "response.completed", response: { status: "completed", output: [item, call] } },
    ]);
    const deltas = events
      .map((event) => event["delta"] as JsonObject | undefined)
      .filter((delta) => delta !== undefined);
    const signed = deltas.find((delta) => delta["type"] === "signature_delta");
    expect(deltas[0]).toEqual({ type: "thinking_delta", thinking: "let me think" });
    const messages = [
      question,
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "let me think", signature: signed?.["signature"] ?? "" },
          { type: "tool_use", id: "call_1", name: "f", input: {} },
        ],
      },
      result,
    ];
    expect(bridge().request({ messages, tools })["input"]).toContainEqual(item);
    const elsewhere = run("openai-responses", "anthropic-messages", "claude-haiku-4-5");
    expect(
      JSON.stringify(run("anthropic-messages", "gemini-generate", "gemini-3-pro").request({ messages, tools })),
    ).not.toContain("gAAA");
    expect(elsewhere.request({ input: [item, call] })["messages"]).toMatchObject([
      { role: "assistant", content: [{ type: "tool_use" }] },
    ]);
  });

  it("is not asked for by clients that do not think, nor of models that do not", () => {
    expect(bridge().request({ messages: [question] })["include"]).toBeUndefined();
    const older = run("anthropic-messages", "openai-responses", "gpt-4.1");
    expect(older.request({ messages: [question], thinking })["include"]).toBeUndefined();
  });
});

describe("reasoning of open models", () => {
  it("comes back from Gemini clients, whose thoughts no one signed", () => {
    const bridge = run("gemini-generate", "openai-chat", "deepseek-v4-pro");
    const tool_calls = [{ id: "call_1", type: "function", function: { name: "f", arguments: "{}" } }];
    const message = { role: "assistant", content: null, reasoning_content: "use f", tool_calls };
    const [candidate] = bridge.answer({ choices: [{ message, finish_reason: "tool_calls" }] })["candidates"] as {
      content: object;
    }[];
    const result = { role: "user", parts: [{ functionResponse: { id: "call_1", name: "f", response: {} } }] };
    const back = bridge.request({ contents: [{ parts: [{ text: "hi" }] }, candidate?.content ?? {}, result] });
    expect((back["messages"] as JsonObject[])[1]).toMatchObject({ reasoning_content: "use f", tool_calls });
    const elsewhere = run("gemini-generate", "anthropic-messages", "claude-haiku-4-5");
    expect(JSON.stringify(elsewhere.request({ contents: [candidate?.content ?? {}, result] }))).not.toContain("use f");
  });

  const messages = [
    question,
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "use f", signature: "" },
        { type: "tool_use", id: "call_1", name: "f", input: {} },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: "21" }] },
  ];
  const assistant = (body: JsonObject) => (body["messages"] as JsonObject[])[1];

  it.each(["deepseek-v4-pro", "kimi-k2-thinking", "zai-org/GLM-4.7", "MiniMax-M2.1"])("%s reads it again", (model) => {
    const bridge = run("anthropic-messages", "openai-chat", model);
    expect(assistant(bridge.request({ messages }))).toMatchObject({ reasoning_content: "use f", tool_calls: [{}] });
    const input = [
      { role: "user", content: "hi" },
      { type: "reasoning", id: "rs", summary: [{ type: "summary_text", text: "use f" }] },
      call,
      { type: "function_call_output", call_id: "call_1", output: "21" },
    ];
    const body = run("openai-responses", "openai-chat", model).request({ input });
    expect(assistant(body)).toMatchObject({ reasoning_content: "use f" });
  });

  it.each(["gpt-4.1", "deepseek-r1-distill-llama-70b"])("%s does not get a member that it would refuse", (model) => {
    const bridge = run("anthropic-messages", "openai-chat", model);
    expect(assistant(bridge.request({ messages }))).not.toHaveProperty("reasoning_content");
    expect(bridge.dropped).toEqual(["messages.thinking"]);
  });
});

describe("thinking that a client wants to see", () => {
  it("is switched on without naming an amount", () => {
    const adaptive = { messages: [question], max_tokens: 4000, thinking: { type: "adaptive" } };
    expect(run("anthropic-messages", "gemini-generate", "gemini-2.5-flash").request(adaptive)).toMatchObject({
      generationConfig: { thinkingConfig: { includeThoughts: true } },
    });
    const shown = {
      contents: [{ parts: [{ text: "hi" }] }],
      generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: -1 } },
    };
    const to = (model: string) => run("gemini-generate", "anthropic-messages", model).request(shown)["thinking"];
    expect(to("claude-sonnet-5")).toEqual({ type: "adaptive", display: "summarized" });
    expect(to("claude-haiku-4-5")).toEqual({ type: "enabled", budget_tokens: 2048 });
  });
});
