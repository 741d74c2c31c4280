import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import type { JsonObject } from "../core/types.ts";

const HI = { role: "user", content: "hi" };

it("reasoning whose summary and text both come is passed on once", () => {
  const input = [
    { role: "user", content: "w?" },
    {
      type: "reasoning",
      id: "rs_1",
      summary: [{ type: "summary_text", text: "A" }],
      content: [{ type: "reasoning_text", text: "A" }],
    },
    { type: "function_call", call_id: "c1", name: "look", arguments: "{}" },
    { type: "function_call_output", call_id: "c1", output: "r" },
  ];
  const { messages } = run("openai-responses", "openai-chat", "deepseek-reasoner").request({ input });
  expect((messages as JsonObject[])[1]).toMatchObject({ reasoning_content: "A" });
});

describe("cache marks beyond the four that the vendor takes", () => {
  const mark = { cache_control: { type: "ephemeral" } };
  const said = (text: string) => ({ role: "user", content: [{ type: "text", text, ...mark }] });
  const marked = (sent: object) => JSON.stringify(sent).match(/"text":"[a-z]+","cache_control"/g);

  it("are left out in the middle and named", () => {
    const chat = run("openai-chat", "anthropic-messages", "claude-sonnet-4-5");
    const system = { role: "system", content: [{ type: "text", text: "s", ...mark }] };
    const sent = chat.request({ messages: [system, said("a"), said("b"), said("c"), said("d"), said("e")] });
    expect(marked(sent)).toEqual(["s", "c", "d", "e"].map((text) => `"text":"${text}","cache_control"`));
    expect(chat.dropped).toEqual(["cache_control"]);
  });

  it("stay where there are four", () => {
    const chat = run("openai-chat", "anthropic-messages", "claude-sonnet-4-5");
    const sent = chat.request({ messages: [said("a"), said("b"), said("c"), said("d")] });
    expect(marked(sent)).toHaveLength(4);
    expect(chat.dropped).toEqual([]);
  });
});

it("a picture that Gemini did not draw is a failure and no empty answer", () => {
  const candidates = [{ content: { role: "model", parts: [] }, finishReason: "NO_IMAGE" }];
  const chat = run("openai-chat", "gemini-generate", "gemini-2.5-flash-image");
  expect(() => chat.answer({ candidates })).toThrow("NO_IMAGE");
  expect(() => chat.stream([{ candidates }])).toThrow("NO_IMAGE");
});

describe("the stop text that a server of open models met", () => {
  const messages = [HI];

  it.each(["stop_reason", "matched_stop"])("reaches Anthropic clients from %s", (member) => {
    const client = run("anthropic-messages", "openai-chat", "qwen3");
    client.request({ messages, max_tokens: 5, stop_sequences: ["END"] });
    const choice = { index: 0, finish_reason: "stop", [member]: "END" };
    const end = { stop_reason: "stop_sequence", stop_sequence: "END" };
    expect(client.answer({ choices: [{ ...choice, message: { content: "x" } }] })).toMatchObject(end);
    const events = client.stream([{ choices: [{ ...choice, delta: { content: "x" } }] }]);
    expect(events.find(({ type }) => type === "message_delta")?.["delta"]).toMatchObject(end);
  });

  it("is none that the client did not ask for", () => {
    const client = run("anthropic-messages", "openai-chat", "qwen3");
    client.request({ messages, max_tokens: 5, stop_sequences: ["END"] });
    for (const stop_reason of ["stop", "", 151_645, null])
      expect(
        client.answer({ choices: [{ message: { content: "x" }, finish_reason: "stop", stop_reason }] }),
      ).toMatchObject({ stop_reason: "end_turn", stop_sequence: null });
  });
});

it.each([
  ["claude-opus-4-6", "xhigh", "max"],
  ["claude-opus-4-8", "minimal", "low"],
])("names the effort of %s that becomes another one: %s", (model, asked, effort) => {
  const chat = run("openai-chat", "anthropic-messages", model);
  expect(chat.request({ messages: [HI], reasoning_effort: asked })["output_config"]).toEqual({ effort });
  expect(chat.dropped).toContain("reasoning_effort");
});

it.each([
  ["gemini-3-pro", "max", { thinkingLevel: "high" }],
  ["gemini-3-pro", "none", { thinkingLevel: "low" }],
  ["gemini-2.5-flash", "xhigh", { thinkingBudget: 24_576 }],
  ["gemini-2.5-pro", "none", { thinkingBudget: 128 }],
])("names the effort of %s that becomes another one: %s", (model, reasoning_effort, config) => {
  const chat = run("openai-chat", "gemini-generate", model);
  expect(chat.request({ messages: [HI], reasoning_effort })["generationConfig"]).toMatchObject({
    thinkingConfig: config,
  });
  expect(chat.dropped).toEqual(["reasoning_effort"]);
});

it.each(["gemini-3-flash", "gemini-2.5-flash"])("does not name an effort that %s keeps", (model) => {
  const chat = run("openai-chat", "gemini-generate", model);
  for (const reasoning_effort of ["low", "high"]) chat.request({ messages: [HI], reasoning_effort });
  expect(chat.dropped).toEqual([]);
});
