// Tools that Anthropic defines and its clients run, on upstreams that do not know them.
import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import type { DialectId, JsonObject } from "../core/types.ts";

const hi = { role: "user", content: "hi" };
const bash = { type: "bash_20250124", name: "bash", cache_control: { type: "ephemeral" } };
const editor = { type: "text_editor_20250728", name: "str_replace_based_edit_tool", max_characters: 10_000 };
const memory = { type: "memory_20250818", name: "memory" };
const computer = {
  type: "computer_20251124",
  name: "computer",
  display_width_px: 1280,
  display_height_px: 800,
  enable_zoom: true,
};
const ALL = [bash, editor, memory, computer];
const NAMES = ALL.map(({ name }) => name);

interface Declared {
  readonly name: string;
  readonly description: string;
  readonly parameters: { readonly properties: Readonly<Record<string, { readonly enum?: readonly string[] }>> };
}

const convertFunctions = (tools: readonly object[]): Declared[] => {
  const body = run("anthropic-messages", "openai-chat", "m").request({ messages: [hi], tools });
  return (body["tools"] as unknown as { function: Declared }[]).map((tool) => tool.function);
};

describe.each<[DialectId, (body: JsonObject) => unknown]>([
  ["openai-chat", ({ tools }) => (tools as unknown as { function: Declared }[]).map((tool) => tool.function.name)],
  ["openai-responses", ({ tools }) => (tools as unknown as Declared[]).map(({ name }) => name)],
  [
    "gemini-generate",
    ({ tools }) =>
      (tools as unknown as { functionDeclarations: Declared[] }[]).flatMap((tool) =>
        tool.functionDeclarations.map(({ name }) => name),
      ),
  ],
])("on upstreams that speak %s", (upstream, namesIn) => {
  it("are functions under their own names, and nothing is lost", () => {
    const bridge = run("anthropic-messages", upstream, "m");
    expect(namesIn(bridge.request({ max_tokens: 100, messages: [hi], tools: ALL }))).toEqual(NAMES);
    expect(bridge.dropped.filter((name) => name !== "cache_control")).toEqual([]);
  });
});

const readProperties = (tool: object) => convertFunctions([tool])[0]?.parameters.properties ?? {};

it.each([
  [bash, ["command", "restart"]],
  [editor, ["command", "path", "file_text", "old_str", "new_str", "insert_line", "view_range", "insert_text"]],
  [
    { type: "text_editor_20250124", name: "str_replace_editor" },
    ["command", "path", "file_text", "old_str", "new_str", "insert_line", "view_range"],
  ],
])("have the members that the vendor's own have: %o", (tool, members) => {
  expect(Object.keys(readProperties(tool))).toEqual(members);
});

it.each([
  [editor, "command", ["view", "create", "str_replace", "insert"]],
  [{ ...editor, type: "text_editor_20250124" }, "command", ["view", "create", "str_replace", "insert", "undo_edit"]],
  [memory, "command", ["view", "create", "str_replace", "insert", "delete", "rename"]],
  [computer, "action", expect.arrayContaining(["screenshot", "scroll", "zoom"])],
  [{ ...computer, type: "computer_20241022" }, "action", expect.not.arrayContaining(["scroll"])],
])("have the commands of their version: %o", (tool, member, commands) => {
  expect(readProperties(tool)[member]?.enum).toEqual(commands);
});

it("carry the size of the screen", () => {
  expect(convertFunctions([computer])[0]?.description).toContain("1280 x 800 pixels");
});

it("are called, forced and answered like any other", () => {
  const bridge = run("anthropic-messages", "openai-chat", "m");
  const asked = bridge.request({
    tools: [bash],
    tool_choice: { type: "tool", name: "bash" },
    messages: [
      hi,
      { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "bash", input: { command: "ls" } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "a.txt" }] },
    ],
  });
  expect(asked).toMatchObject({
    tool_choice: { type: "function", function: { name: "bash" } },
    messages: [
      hi,
      { tool_calls: [{ id: "t1", function: { name: "bash", arguments: '{"command":"ls"}' } }] },
      { role: "tool", tool_call_id: "t1", content: "a.txt" },
    ],
  });
  const call = { id: "t2", type: "function", function: { name: "bash", arguments: '{"restart":true}' } };
  const message = { content: null, tool_calls: [call] };
  expect(bridge.answer({ choices: [{ message, finish_reason: "tool_calls" }] })["content"]).toEqual([
    { type: "tool_use", id: "t2", name: "bash", input: { restart: true } },
  ]);
});

it("of the vendor itself fall away by name", () => {
  const bridge = run("anthropic-messages", "openai-chat", "m");
  const types = ["web_search_20260318", "advisor_20260301", "tool_search_tool_bm25_20251119"];
  bridge.request({ messages: [hi], tools: [...types.map((type) => ({ type, name: "n" })), bash] });
  expect(bridge.dropped.filter((name) => name.startsWith("tools."))).toEqual(types.map((type) => `tools.${type}`));
});
