import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import type { DialectId } from "../core/types.ts";
import { toolNameFor } from "./parts/tools/tool-names.ts";

const NAMES = ["1c_reload", "db.query:run", "mcp__server__".padEnd(100, "x"), "größe", "plain_name"];
const RULES: Readonly<Record<string, RegExp>> = {
  "openai-chat": /^[a-zA-Z0-9_-]{1,64}$/,
  "openai-responses": /^[a-zA-Z0-9_-]{1,64}$/,
  "anthropic-messages": /^[a-zA-Z0-9_-]{1,128}$/,
  "gemini-generate": /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
};
const MODELS: Readonly<Record<string, string>> = {
  "openai-chat": "gpt-4o",
  "openai-responses": "gpt-4o",
  "anthropic-messages": "claude-sonnet-4-5",
  "gemini-generate": "gemini-2.5-pro",
};
const schema = { type: "object", properties: { a: { type: "string" } } };

const CLIENTS: Readonly<Record<string, (name: string) => object>> = {
  "openai-chat": (name) => ({
    model: "m",
    tools: [{ type: "function", function: { name, parameters: schema } }],
    tool_choice: { type: "function", function: { name } },
    messages: [
      { role: "user", content: "hi" },
      { role: "assistant", tool_calls: [{ id: "c1", type: "function", function: { name, arguments: "{}" } }] },
      { role: "tool", tool_call_id: "c1", content: "done" },
    ],
  }),
  "anthropic-messages": (name) => ({
    model: "m",
    max_tokens: 10,
    tools: [{ name, input_schema: schema }],
    tool_choice: { type: "tool", name },
    messages: [
      { role: "user", content: "hi" },
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name, input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "done" }] },
    ],
  }),
  "gemini-generate": (name) => ({
    tools: [{ functionDeclarations: [{ name, parameters: schema }] }],
    toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: [name] } },
    contents: [
      { role: "user", parts: [{ text: "hi" }] },
      { role: "model", parts: [{ functionCall: { name, args: {} } }] },
      { role: "user", parts: [{ functionResponse: { name, response: { ok: true } } }] },
    ],
  }),
  "openai-responses": (name) => ({
    model: "m",
    tools: [{ type: "function", name, parameters: schema }],
    tool_choice: { type: "function", name },
    input: [
      { role: "user", content: "hi" },
      { type: "function_call", call_id: "c1", name, arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: "done" },
    ],
  }),
};

const ANSWERS: Readonly<Record<string, (name: string) => object>> = {
  "openai-chat": (name) => ({
    id: "a",
    choices: [
      {
        index: 0,
        finish_reason: "tool_calls",
        message: {
          role: "assistant",
          tool_calls: [{ id: "c2", type: "function", function: { name, arguments: "{}" } }],
        },
      },
    ],
  }),
  "anthropic-messages": (name) => ({
    id: "a",
    type: "message",
    role: "assistant",
    stop_reason: "tool_use",
    content: [{ type: "tool_use", id: "c2", name, input: {} }],
    usage: { input_tokens: 1, output_tokens: 1 },
  }),
  "gemini-generate": (name) => ({
    candidates: [{ content: { role: "model", parts: [{ functionCall: { name, args: {} } }] }, finishReason: "STOP" }],
  }),
  "openai-responses": (name) => ({
    id: "a",
    object: "response",
    status: "completed",
    output: [{ type: "function_call", id: "f", call_id: "c2", name, arguments: "{}", status: "completed" }],
  }),
};

const CHUNKS: Readonly<Record<string, (name: string) => object[]>> = {
  "openai-chat": (name) => [
    {
      choices: [
        {
          index: 0,
          delta: { tool_calls: [{ index: 0, id: "c2", type: "function", function: { name, arguments: "{}" } }] },
        },
      ],
    },
    { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
  ],
  "gemini-generate": (name) => [ANSWERS["gemini-generate"]?.(name) as object],
};

/** Returns every text in a member called `name`. */
function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    (key === "name" || key === "allowedFunctionNames") && typeof member !== "object"
      ? [String(member)]
      : key === "allowedFunctionNames"
        ? (member as string[])
        : namesIn(member),
  );
}

const pairs = Object.keys(CLIENTS).flatMap((client) =>
  Object.keys(RULES)
    .filter((upstream) => upstream !== client)
    .map((upstream) => [client as DialectId, upstream as DialectId] as const),
);

describe.each(pairs)("tools of %s clients at %s upstreams", (client, upstream) => {
  it.each(NAMES)("%s is sent as the upstream takes it and comes back as it was", (name) => {
    const conversion = run(client, upstream, MODELS[upstream] as string);
    const sent = namesIn(conversion.request(CLIENTS[client]?.(name) as object));
    expect(sent.length).toBeGreaterThan(1);
    expect(new Set(sent).size).toBe(1);
    expect(sent[0]).toMatch(RULES[upstream] as RegExp);
    const answer = conversion.answer(ANSWERS[upstream]?.(sent[0] as string) as object);
    expect(namesIn(answer)).toContain(name);
    const chunks = CHUNKS[upstream]?.(sent[0] as string);
    if (chunks) expect(JSON.stringify(conversion.stream(chunks))).toContain(JSON.stringify(name).slice(1, -1));
  });
});

it("two names that differ in forbidden letters alone stay two", () => {
  expect(toolNameFor({ upstream: "openai-chat" }, "a.b")).not.toBe(toolNameFor({ upstream: "openai-chat" }, "a:b"));
  expect(toolNameFor({ upstream: "openai-chat" }, "a_b")).toBe("a_b");
});
