// Tools that OpenAI defines and Responses clients run, on upstreams that do not know them.
import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import type { JsonObject } from "../core/types.ts";

const hi = { role: "user", content: "hi" };
const TOOLS = [{ type: "shell" }, { type: "local_shell" }, { type: "apply_patch" }];
const bridge = () => run("openai-responses", "openai-chat", "gpt-4.1");
const place = { id: expect.any(String) as string, call_id: "call_1", status: "completed" };

const CALLS: readonly [name: string, args: object, item: object][] = [
  [
    "shell",
    { commands: ["ls", "pwd"], timeout_ms: 1000 },
    {
      type: "shell_call",
      action: { commands: ["ls", "pwd"], timeout_ms: 1000, max_output_length: null },
      environment: { type: "local" },
    },
  ],
  [
    "local_shell",
    { command: ["ls", "-a"], working_directory: "/tmp" },
    {
      type: "local_shell_call",
      action: { type: "exec", command: ["ls", "-a"], env: {}, working_directory: "/tmp" },
    },
  ],
  [
    "apply_patch",
    { type: "create_file", path: "a.txt", diff: "+a" },
    { type: "apply_patch_call", operation: { type: "create_file", path: "a.txt", diff: "+a" } },
  ],
  [
    "apply_patch",
    { type: "delete_file", path: "a.txt", diff: "" },
    { type: "apply_patch_call", operation: { type: "delete_file", path: "a.txt" } },
  ],
];
const called = (name: string, args: object) => ({
  id: "call_1",
  type: "function",
  function: { name, arguments: JSON.stringify(args) },
});

it("are offered as functions; a shell that runs at the vendor is not", () => {
  const asked = bridge();
  const hosted = { type: "shell", environment: { type: "container_auto" } };
  const body = asked.request({ input: [hi], tools: [hosted, ...TOOLS] });
  const names = (body["tools"] as { function: JsonObject }[]).map((tool) => tool.function["name"]);
  expect(names).toEqual(["shell", "local_shell", "apply_patch"]);
  expect(asked.dropped).toEqual(["tools.shell"]);
});

it("can be forced", () => {
  const body = bridge().request({ input: [hi], tools: TOOLS, tool_choice: { type: "apply_patch" } });
  expect(body["tool_choice"]).toEqual({ type: "function", function: { name: "apply_patch" } });
  const allowed = { type: "allowed_tools", mode: "required", tools: [{ type: "shell" }] };
  expect(bridge().request({ input: [hi], tools: TOOLS, tool_choice: allowed })["tool_choice"]).toMatchObject({
    allowed_tools: { mode: "required", tools: [{ function: { name: "shell" } }] },
  });
});

describe.each(CALLS)("calls of %s", (name, args, item) => {
  it("are of their own kind in an answer, whole and streamed", () => {
    const asked = bridge();
    asked.request({ input: [hi], tools: TOOLS });
    const message = { content: null, tool_calls: [called(name, args)] };
    const whole = asked.answer({ choices: [{ message, finish_reason: "tool_calls" }] });
    expect(whole["output"]).toEqual([{ ...place, ...item }]);
    const events = asked.stream([
      { id: "x", choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...called(name, args) }] } }] },
      { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
    ]);
    const items = events.filter((event) => event["item"] !== undefined);
    expect(items).toMatchObject([
      { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress" } },
      { type: "response.output_item.done", output_index: 0, item },
    ]);
    expect(events.map((event) => event["sequence_number"])).toEqual(events.map((_event, at) => at));
    expect(events.at(-1)).toMatchObject({ response: { output: [item] } });
  });

  it("come back as calls of the function", () => {
    const body = bridge().request({ input: [hi, { ...item, call_id: "call_1", status: "completed" }], tools: TOOLS });
    const [, message] = body["messages"] as { tool_calls: { function: { name: string; arguments: string } }[] }[];
    const call = message?.tool_calls[0]?.function;
    expect([call?.name, JSON.parse(call?.arguments ?? "")]).toMatchObject([name, expect.any(Object)]);
  });
});

it("have their results behind their calls, by the id that each of them has", () => {
  const asked = bridge();
  const outcome = { type: "exit", exit_code: 0 };
  const body = asked.request({
    tools: TOOLS,
    input: [
      hi,
      { type: "shell_call", call_id: "a", action: { commands: ["ls"] } },
      { type: "local_shell_call", id: "lsh_1", call_id: "b", action: { type: "exec", command: ["ls"], env: {} } },
      { type: "apply_patch_call", call_id: "c", operation: { type: "delete_file", path: "a" } },
      { type: "apply_patch_call_output", call_id: "c", status: "failed", output: "no such file" },
      { type: "local_shell_call_output", id: "b", output: "a.txt" },
      { type: "shell_call_output", call_id: "a", output: [{ stdout: "a.txt", stderr: "", outcome }] },
    ],
  });
  expect(body["messages"]).toMatchObject([
    hi,
    {
      tool_calls: [
        { id: "a", function: { name: "shell", arguments: '{"commands":["ls"]}' } },
        { id: "b", function: { name: "local_shell", arguments: '{"command":["ls"],"env":{}}' } },
        { id: "c", function: { name: "apply_patch", arguments: '{"type":"delete_file","path":"a"}' } },
      ],
    },
    { role: "tool", tool_call_id: "a", content: JSON.stringify([{ stdout: "a.txt", stderr: "", outcome }]) },
    { role: "tool", tool_call_id: "b", content: "a.txt" },
    { role: "tool", tool_call_id: "c", content: "failed\nno such file" },
  ]);
  expect(asked.dropped).toEqual([]);
});
