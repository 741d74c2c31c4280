// Tools that coding agents group by MCP server, and tools that they search for themselves.
import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import type { JsonObject } from "../core/types.ts";

const parameters = { type: "object", properties: { query: { type: "string" } } };
const find = { type: "function", name: "find", description: "Finds.", parameters, defer_loading: true };
const edit = { type: "custom", name: "edit", description: "Edits." };
const docs = { type: "namespace", name: "mcp__docs", description: "The manual.", tools: [find, edit] };
const hi = { role: "user", content: "hi" };
const bridge = () => run("openai-responses", "openai-chat", "gpt-4.1");
const called = (name: string, args: object) => ({
  id: "call_1",
  type: "function",
  function: { name, arguments: JSON.stringify(args) },
});
const answered = (call: object) => ({
  choices: [{ message: { content: null, tool_calls: [call] }, finish_reason: "tool_calls" }],
});
const streamed = (call: object) => [
  { id: "x", choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call }] } }] },
  { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
];
const listDoneItems = (events: readonly JsonObject[]) =>
  events.flatMap(({ type, item }) => (type === "response.output_item.done" ? [item] : []));
const listToolNames = (body: JsonObject) =>
  (body["tools"] as JsonObject[]).map((tool) => (tool["function"] as JsonObject)["name"]);

describe("tools in a namespace", () => {
  it("are functions upstream, which hear once what the namespace is about", () => {
    const asked = bridge();
    const body = asked.request({ input: [hi], tools: [{ type: "function", name: "find" }, docs] });
    expect(body["tools"]).toMatchObject([
      { type: "function", function: { name: "find" } },
      { type: "function", function: { name: "mcp__docs__find", description: "Finds.\n\nThe manual.", parameters } },
      { type: "function", function: { name: "mcp__docs__edit", description: "Edits." } },
    ]);
    expect(asked.dropped).toEqual([]);
  });

  it.each<[string, object, object]>([
    [
      "a function",
      called("mcp__docs__find", { query: "a" }),
      { type: "function_call", name: "find", namespace: "mcp__docs", arguments: '{"query":"a"}' },
    ],
    [
      "a free-text tool",
      called("mcp__docs__edit", { input: "a" }),
      { type: "custom_tool_call", name: "edit", namespace: "mcp__docs", input: "a" },
    ],
    ["another function of that name", called("find", {}), { type: "function_call", name: "find", arguments: "{}" }],
  ])("are called by their own names again: %s", (_kind, call, item) => {
    const asked = bridge();
    asked.request({ input: [hi], tools: [docs, { type: "function", name: "find" }] });
    const whole = { id: expect.any(String) as string, call_id: "call_1", status: "completed", ...item };
    expect(asked.answer(answered(call))["output"]).toEqual([whole]);
    const events = asked.stream(streamed(call));
    expect(listDoneItems(events)).toEqual([whole]);
    const done = events.find(({ type }) => type === "response.function_call_arguments.done");
    if (done !== undefined) expect(done["name"]).toBe("find");
  });

  it("keep their names in a conversation, and in a choice", () => {
    const place = { namespace: "mcp__docs", call_id: "a" };
    const body = bridge().request({
      input: [
        hi,
        { type: "function_call", name: "find", arguments: "{}", ...place },
        { type: "function_call_output", call_id: "a", output: "found" },
      ],
      tools: [docs],
      tool_choice: { type: "function", name: "find", namespace: "mcp__docs" },
    });
    expect(body["messages"]).toMatchObject([
      hi,
      { tool_calls: [{ id: "a", function: { name: "mcp__docs__find" } }] },
      { role: "tool", tool_call_id: "a", content: "found" },
    ]);
    expect(body["tool_choice"]).toEqual({ type: "function", function: { name: "mcp__docs__find" } });
    const allowed = {
      type: "allowed_tools",
      mode: "auto",
      tools: [{ type: "custom", name: "edit", namespace: "mcp__docs" }],
    };
    expect(bridge().request({ input: [hi], tools: [docs], tool_choice: allowed })["tool_choice"]).toMatchObject({
      allowed_tools: { tools: [{ function: { name: "mcp__docs__edit" } }] },
    });
  });

  it("have names that every upstream takes, whatever their server is called", () => {
    const tools = [
      { type: "namespace", name: "mcp__my.docs__", tools: [find] },
      { type: "namespace", name: "n".repeat(60), tools: [find] },
      { type: "function", name: "f".repeat(100) },
    ];
    const asked = bridge();
    const names = listToolNames(asked.request({ input: [hi], tools })) as string[];
    expect(names[0]).toBe("mcp__my_docs__find");
    expect(names.every((name) => /^[\w-]{1,64}$/.test(name))).toBe(true);
    const outputs = names.map((name) => asked.answer(answered(called(name, {})))["output"] as JsonObject[]);
    expect(outputs.flat()).toMatchObject([
      { name: "find", namespace: "mcp__my.docs__" },
      { name: "find", namespace: "n".repeat(60) },
      { name: "f".repeat(100) },
    ]);
  });

  it.each([
    ["anthropic-messages", { content: [{ type: "tool_use", id: "t", name: "mcp__docs__find", input: {} }] }],
    [
      "gemini-generate",
      { candidates: [{ content: { parts: [{ functionCall: { name: "mcp__docs__find", args: {} } }] } }] },
    ],
  ] as const)("reach every upstream: %s", (upstream, answer) => {
    const asked = run("openai-responses", upstream, "m");
    expect(JSON.stringify(asked.request({ input: [hi], tools: [docs] })["tools"])).toContain('"mcp__docs__find"');
    expect(asked.answer(answer)["output"]).toMatchObject([{ name: "find", namespace: "mcp__docs" }]);
  });

  it("without any tool are reported as dropped", () => {
    const asked = bridge();
    expect(asked.request({ input: [hi], tools: [{ type: "namespace", name: "n" }] })["tools"]).toBeUndefined();
    expect(asked.dropped).toEqual(["tools.namespace"]);
  });
});

describe("a search of the client's own", () => {
  const search = { type: "tool_search", execution: "client", description: "Finds tools.", parameters };
  const searched = { type: "tool_search_call", call_id: "s", execution: "client", arguments: { query: "manual" } };
  const found = { type: "tool_search_output", call_id: "s", execution: "client", status: "completed", tools: [docs] };

  it("is a function upstream and a search for its client", () => {
    const asked = bridge();
    expect(asked.request({ input: [hi], tools: [search] })["tools"]).toEqual([
      { type: "function", function: { name: "tool_search", description: "Finds tools.", parameters } },
    ]);
    const call = called("tool_search", { query: "manual" });
    const item = { ...searched, id: expect.any(String) as string, call_id: "call_1", status: "completed" };
    expect(asked.answer(answered(call))["output"]).toEqual([item]);
    const events = asked.stream(streamed(call));
    expect(listDoneItems(events)).toEqual([item]);
    expect(events.map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.output_item.done",
      "response.completed",
    ]);
  });

  it("offers what it found from then on", () => {
    const asked = bridge();
    const body = asked.request({ input: [hi, searched, found], tools: [search] });
    expect(listToolNames(body)).toEqual(["tool_search", "mcp__docs__find", "mcp__docs__edit"]);
    expect(body["messages"]).toEqual([
      hi,
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "s", type: "function", function: { name: "tool_search", arguments: '{"query":"manual"}' } }],
      },
      { role: "tool", tool_call_id: "s", content: '{"tools":["mcp__docs__find","mcp__docs__edit"]}' },
    ]);
    expect(asked.dropped).toEqual([]);
    expect(asked.answer(answered(called("mcp__docs__find", {})))["output"]).toMatchObject([
      { name: "find", namespace: "mcp__docs" },
    ]);
  });

  it("of the vendor falls away with its items, as other hosted tools do", () => {
    const hosted = { type: "tool_search_call", execution: "server", call_id: null, arguments: { paths: ["docs"] } };
    const asked = bridge();
    const body = asked.request({ input: [hi, hosted], tools: [{ type: "tool_search" }, docs] });
    expect(listToolNames(body)).toEqual(["mcp__docs__find", "mcp__docs__edit"]);
    expect(body["messages"]).toEqual([hi]);
    expect(asked.dropped).toEqual(["input.tool_search_call", "tools.tool_search"]);
  });
});
