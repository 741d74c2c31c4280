// Requests and answers of coding agents that speak Anthropic's protocol, on servers that speak chat completions.
import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import type { JsonObject } from "../core/types.ts";

const hi = { role: "user", content: "hi" };
const cache_control = { type: "ephemeral" };
const use = (id: string) => ({ type: "tool_use", id, name: "f", input: {} });
const result = (id: string, content: unknown = id) => ({ type: "tool_result", tool_use_id: id, content });
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AA" } };
const shown = { type: "image_url", image_url: { url: "data:image/png;base64,AA" } };
const sent = (body: object, upstreamModel = "gpt-5.2") =>
  run("anthropic-messages", "openai-chat", upstreamModel).request({ messages: [hi], ...body });
const convertMessages = (body: object) => sent(body)["messages"];

describe("texts that stand apart for their cache marks", () => {
  const text = (value: string) => ({ type: "text", text: value, cache_control });

  it("are one for servers that take no lists there, and the mark is named", () => {
    const bridge = run("anthropic-messages", "openai-chat", "gpt-5.2");
    const body = bridge.request({
      system: [text("a"), text("b")],
      messages: [hi, { role: "assistant", content: [text("c")] }, { role: "user", content: [text("d")] }],
    });
    expect(body["messages"]).toEqual([
      { role: "system", content: "a\n\nb" },
      hi,
      { role: "assistant", content: "c" },
      { role: "user", content: "d" },
    ]);
    expect(bridge.dropped).toEqual(["cache_control"]);
  });

  it("lose the line that would keep every cache from knowing the prompt", () => {
    const line = "x-anthropic-billing-header: cc_version=2.1.100; cc_entrypoint=cli; cch=eb6c6;";
    const expected = [{ role: "system", content: "You help." }, hi];
    expect(convertMessages({ system: [{ type: "text", text: line }, text("You help.")] })).toEqual(expected);
    expect(convertMessages({ system: `${line}\nYou help.` })).toEqual(expected);
  });
});

describe("names beyond what chat servers take", () => {
  const long = `mcp__plugin_files__${"look_up_".repeat(8)}all`;
  const tools = [
    { name: long, input_schema: { type: "object" } },
    { name: "f", input_schema: { type: "object" } },
  ];
  const asked = {
    tools,
    tool_choice: { type: "tool", name: long },
    messages: [
      hi,
      { role: "assistant", content: [{ ...use("a"), name: long }] },
      { role: "user", content: [result("a", [{ type: "tool_reference", tool_name: long }])] },
    ],
  };

  it("are short and the same wherever the tool is named", () => {
    const body = sent(asked);
    const [first, second] = (body["tools"] as { function: { name: string } }[]).map((tool) => tool.function.name);
    expect(first).toMatch(/^mcp__plugin_files__look_up_.*_[\da-f]{8}$/);
    expect(first).toHaveLength(64);
    expect(second).toBe("f");
    expect(body["tool_choice"]).toEqual({ type: "function", function: { name: first } });
    expect(body["messages"]).toMatchObject([hi, { tool_calls: [{ function: { name: first } }] }, { content: first }]);
  });

  it("are whole again in the answer", () => {
    const bridge = run("anthropic-messages", "openai-chat", "gpt-5.2");
    const [tool] = bridge.request(asked)["tools"] as { function: { name: string } }[];
    const name = tool?.function.name;
    expect(name).toHaveLength(64);
    const call = { index: 0, id: "a", type: "function", function: { name, arguments: "{}" } };
    const message = { content: null, tool_calls: [call] };
    const answer = bridge.answer({ choices: [{ index: 0, message, finish_reason: "tool_calls" }] });
    expect(answer["content"]).toEqual([{ ...use("a"), name: long }]);
    const events = bridge.stream([{ choices: [{ index: 0, delta: message, finish_reason: "tool_calls" }] }]);
    expect(events).toContainEqual({
      type: "content_block_start",
      index: 0,
      content_block: { ...use("a"), name: long },
    });
  });
});

it("a turn in pieces has its calls and their results side by side", () => {
  const messages = [
    hi,
    { role: "assistant", content: "I look." },
    { role: "assistant", content: [use("a")] },
    { role: "assistant", content: [use("b")] },
    { role: "user", content: [result("a", [image])] },
    { role: "user", content: "and?" },
    { role: "user", content: [result("b")] },
    { role: "assistant", content: "Done." },
    { role: "assistant", content: "Bye." },
  ];
  expect(convertMessages({ messages })).toMatchObject([
    hi,
    { role: "assistant", content: "I look.", tool_calls: [{ id: "a" }, { id: "b" }] },
    { role: "tool", tool_call_id: "a", content: "" },
    { role: "tool", tool_call_id: "b", content: "b" },
    { role: "user", content: [shown, { type: "text", text: "and?" }] },
    { role: "assistant", content: "Done." },
    { role: "assistant", content: "Bye." },
  ]);
});

it("text documents keep their titles", () => {
  const document = (source: object) => ({ type: "document", source, title: "T", context: "from 2024" });
  const content = [
    document({ type: "text", media_type: "text/plain", data: "d" }),
    document({ type: "content", content: "e" }),
    document({ type: "content", content: [{ type: "text", text: "f" }, image] }),
  ];
  const text = (value: string) => ({ type: "text", text: value });
  expect(convertMessages({ messages: [{ role: "user", content }] })).toEqual([
    {
      role: "user",
      content: [text("T\nfrom 2024\nd"), text("T\nfrom 2024\ne"), text("T\nfrom 2024"), text("f"), shown],
    },
  ]);
});

it("calls whose arguments are written as null have none, and keep a null inside of them", () => {
  const bridge = run("anthropic-messages", "openai-chat", "llama-3.3-70b");
  const call = { index: 0, id: "a", type: "function", function: { name: "f", arguments: "null" } };
  const choices = [{ index: 0, message: { content: null, tool_calls: [call] }, finish_reason: "tool_calls" }];
  expect(bridge.answer({ choices })["content"]).toEqual([use("a")]);
  const inputIn = (...calls: object[]) =>
    bridge
      .stream(calls.map((part) => ({ choices: [{ index: 0, delta: { tool_calls: [part] } }] })))
      .flatMap((event) => (event["delta"] as JsonObject | undefined)?.["partial_json"] ?? []);
  expect(inputIn(call)).toEqual([]);
  const pieces = ['{"a":', "null", "}"];
  expect(inputIn(...pieces.map((args) => ({ ...call, function: { name: "f", arguments: args } })))).toEqual(pieces);
});

it("the least of thinking is none for other models", () => {
  const asked = (type: string) =>
    run("anthropic-messages", "gemini-generate", "gemini-2.5-flash").request({ messages: [hi], thinking: { type } });
  expect(asked("between_tools")).toMatchObject({ generationConfig: { thinkingConfig: { thinkingBudget: 0 } } });
  expect(asked("between_tools")).toEqual(asked("disabled"));
});
