import { expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";

const functions = [{ name: "f", parameters: { type: "object", properties: { a: { type: "string" } } } }];
const hi = { role: "user", content: "hi" };

it("clients that offer functions get their call in the words of functions", () => {
  const bridge = run("openai-chat", "anthropic-messages", "claude-haiku-4-5");
  bridge.request({ messages: [hi], functions });
  const called = { type: "tool_use", id: "t", name: "f", input: { a: "b" } };
  const answer = bridge.answer({ content: [{ type: "text", text: "ok" }, called], stop_reason: "tool_use" });
  const function_call = { name: "f", arguments: '{"a":"b"}' };
  expect(answer["choices"]).toEqual([
    { index: 0, message: { role: "assistant", content: "ok", function_call }, finish_reason: "function_call" },
  ]);
  const events = bridge.stream([
    { type: "message_start", message: { id: "msg_1", model: "claude" } },
    { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "t", name: "f", input: {} } },
    { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"a":"b"}' } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "tool_use" } },
  ]);
  expect(events.flatMap(({ choices }) => choices)).toMatchObject([
    { delta: { role: "assistant" } },
    { delta: { function_call: { name: "f", arguments: "" } } },
    { delta: { function_call: { arguments: '{"a":"b"}' } } },
    { finish_reason: "function_call" },
  ]);
  expect(JSON.stringify(events)).not.toContain("tool_calls");
});

it("clients that offer tools do not", () => {
  const bridge = run("openai-chat", "anthropic-messages", "claude-haiku-4-5");
  bridge.request({ messages: [hi], tools: functions.map((target) => ({ type: "function", function: target })) });
  const answer = bridge.answer({
    content: [{ type: "tool_use", id: "t", name: "f", input: {} }],
    stop_reason: "tool_use",
  });
  expect(answer["choices"]).toMatchObject([{ message: { tool_calls: [{ id: "t" }] }, finish_reason: "tool_calls" }]);
});
