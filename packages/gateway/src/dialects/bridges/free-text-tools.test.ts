import { expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";

const patch = {
  type: "custom",
  custom: {
    name: "patch",
    description: "d",
    format: { type: "grammar", grammar: { syntax: "lark", definition: "x" } },
  },
};
const call = { type: "custom_tool_call", id: "ctc_1", call_id: "call_1", name: "patch", input: "*** Begin" };
const said = { id: "call_1", type: "custom", custom: { name: "patch", input: "*** Begin" } };

it("free-text tools of chat are those of Responses, calls and results included", () => {
  const bridge = run("openai-chat", "openai-responses", "gpt-5.2");
  const body = bridge.request({
    messages: [
      { role: "user", content: "go" },
      { role: "assistant", content: null, tool_calls: [said] },
      { role: "tool", tool_call_id: "call_1", content: "done" },
    ],
    tools: [patch],
    tool_choice: { type: "custom", custom: { name: "patch" } },
  });
  expect(body).toMatchObject({
    tools: [{ type: "custom", name: "patch", format: { type: "grammar", syntax: "lark", definition: "x" } }],
    tool_choice: { type: "custom", name: "patch" },
    input: [{}, { type: "custom_tool_call", input: "*** Begin" }, { type: "custom_tool_call_output", output: "done" }],
  });
  expect(bridge.dropped).toEqual([]);
  const answer = bridge.answer({ status: "completed", output: [call] });
  expect(answer["choices"]).toMatchObject([{ message: { tool_calls: [said] }, finish_reason: "tool_calls" }]);
});

it("and stream as text", () => {
  const events = run("openai-chat", "openai-responses", "gpt-5.2").stream([
    { type: "response.created", response: { id: "resp_1", model: "m" } },
    { type: "response.output_item.added", output_index: 0, item: { ...call, input: "" } },
    { type: "response.custom_tool_call_input.delta", output_index: 0, delta: "*** " },
    { type: "response.custom_tool_call_input.delta", output_index: 0, delta: "Begin" },
    { type: "response.output_item.done", output_index: 0, item: call },
    { type: "response.completed", response: { status: "completed" } },
  ]);
  expect(events.flatMap(({ choices }) => choices)).toMatchObject([
    { delta: { role: "assistant" } },
    { delta: { tool_calls: [{ index: 0, id: "call_1", type: "custom", custom: { name: "patch", input: "" } }] } },
    { delta: { tool_calls: [{ index: 0, custom: { input: "*** " } }] } },
    { delta: { tool_calls: [{ index: 0, custom: { input: "Begin" } }] } },
    { finish_reason: "tool_calls" },
  ]);
});
