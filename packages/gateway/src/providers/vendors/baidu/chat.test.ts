import { describe, expect, it } from "vitest";
import { createBridgeContext } from "../../../../test/kit/provider-kit.ts";
import { chatBridge as tencentBridge } from "../tencent/chat.ts";
import { chatBridge } from "./chat.ts";

const messages = [
  { role: "system", content: "s1" },
  { role: "user", content: "a" },
  { role: "user", content: "b" },
  { role: "system", content: "s2" },
  { role: "assistant", content: "", tool_calls: [{ id: "c", function: { name: "f", arguments: '{"x":1}' } }] },
  { role: "tool", tool_call_id: "c", content: "r" },
];

describe("histories that have to alternate", () => {
  it("of Baidu: neighbours joined, systems on top, real arguments, results by name", () => {
    const body = chatBridge
      .begin(createBridgeContext())
      .request({ messages, temperature: 0, frequency_penalty: 0.5, max_tokens: 1, stop: "x" });
    expect(body).toEqual({
      system: "s1\n\ns2",
      messages: [
        { role: "user", content: "a\n\nb" },
        { role: "assistant", content: "", function_call: { name: "f", arguments: '{"x":1}' } },
        { role: "function", content: "r", name: "f" },
      ],
      temperature: 0.01,
      penalty_score: 1.5,
      max_output_tokens: 2,
      stop: ["x"],
    });
    expect(() => chatBridge.begin(createBridgeContext()).request({ messages: messages.slice(0, 1) })).toThrow(
      "user message",
    );
  });

  it("of Tencent: one system message first, calls and results in the vendor's case", () => {
    expect(tencentBridge.begin(createBridgeContext()).request({ messages, temperature: 0 })).toEqual({
      Model: "model",
      Messages: [
        { Role: "system", Content: "s1\n\ns2" },
        { Role: "user", Content: "a\n\nb" },
        {
          Role: "assistant",
          Content: "",
          ToolCalls: [{ Id: "c", Type: "function", Function: { Name: "f", Arguments: '{"x":1}' } }],
        },
        { Role: "tool", ToolCallId: "c", Content: "r" },
      ],
      Stream: false,
      Temperature: 0,
    });
  });
});

describe("answers of Baidu", () => {
  it.each([
    [{ is_truncated: true }, "length"],
    [{ need_clear_history: true }, "content_filter"],
    [{ finish_reason: "normal" }, "stop"],
  ])("%j finish with %s", (parts, finish) => {
    const answer = chatBridge.begin(createBridgeContext()).response({ result: "a", ...parts });
    expect(answer).toMatchObject({ choices: [{ finish_reason: finish }] });
  });
});
