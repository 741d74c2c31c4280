import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import type { DialectId, JsonObject } from "../core/types.ts";
import { toUsage } from "../core/usage.ts";

const hi = { role: "user", content: "hi" };
const tool = {
  type: "function",
  function: { name: "f", parameters: { type: "object", properties: { a: { type: "string" } } } },
};

describe("what a conversion cannot carry", () => {
  it.each<[DialectId, DialectId, object, string]>([
    ["openai-chat", "anthropic-messages", { messages: [hi], n: 2 }, "n"],
    ["openai-chat", "anthropic-messages", { messages: [hi], modalities: ["text", "audio"] }, "modalities"],
    ["openai-chat", "anthropic-messages", { messages: [hi], logit_bias: { 1: 5 } }, "logit_bias"],
    [
      "openai-chat",
      "anthropic-messages",
      { messages: [{ role: "user", content: [{ type: "input_audio", input_audio: {} }] }] },
      "input_audio",
    ],
    ["openai-chat", "gemini-generate", { messages: [hi], logit_bias: { 1: 5 } }, "logit_bias"],
    ["openai-chat", "openai-responses", { messages: [hi], n: 2 }, "n"],
    ["openai-responses", "openai-chat", { input: "x", background: true }, "background"],
    ["openai-responses", "openai-chat", { input: "x", previous_response_id: "r" }, "previous_response_id"],
    ["openai-responses", "openai-chat", { input: [{ type: "item_reference", id: "x" }] }, "input.item_reference"],
    [
      "openai-responses",
      "openai-chat",
      { input: "x", tools: [{ type: "web_search" }], tool_choice: { type: "web_search" } },
      "tool_choice",
    ],
    [
      "openai-responses",
      "openai-chat",
      { input: "x", tools: [{ type: "web_search" }], tool_choice: "required" },
      "tool_choice",
    ],
    [
      "anthropic-messages",
      "openai-chat",
      { messages: [hi], tools: [{ type: "web_search_20250305", name: "web_search" }], tool_choice: { type: "any" } },
      "tool_choice",
    ],
    [
      "anthropic-messages",
      "openai-chat",
      {
        messages: [
          { role: "user", content: [{ type: "document", source: { type: "url", url: "https://x.example/a.pdf" } }] },
        ],
      },
      "document.source.url",
    ],
    ["gemini-generate", "openai-chat", { contents: [{ parts: [{ text: "x" }] }], cachedContent: "c" }, "cachedContent"],
    [
      "gemini-generate",
      "anthropic-messages",
      { contents: [{ parts: [{ text: "x" }] }], generationConfig: { candidateCount: 2 } },
      "n",
    ],
    ["openai-completions", "openai-chat", { prompt: ["a", "b"] }, "prompt"],
    ["openai-completions", "openai-chat", { prompt: "a", suffix: "b" }, "suffix"],
  ])("%s to %s refuses %j", (client, upstream, body, param) => {
    expect(() => run(client, upstream, "m").request(body)).toThrow(
      expect.objectContaining({ code: "unsupported_parameter", param, status: 400 }),
    );
  });

  it("tells Anthropic clients to continue without threads", () => {
    expect(() =>
      run("anthropic-messages", "openai-chat", "m").request({ messages: [hi], thread: { type: "create" } }),
    ).toThrow(
      expect.objectContaining({ code: "invalid_request", details: { error_code: "thread_unsupported_request" } }),
    );
  });

  it("is named when it only tunes", () => {
    const chat = run("openai-chat", "anthropic-messages", "claude-opus-5");
    chat.request({
      model: "m",
      messages: [hi],
      seed: 1,
      temperature: 1,
      metadata: { a: 1 },
      store: null,
      tools: [tool, { type: "web_search" }],
    });
    expect(chat.dropped).toEqual(["tools.web_search", "seed", "metadata", "temperature"]);
    const messages = run("anthropic-messages", "openai-chat", "gpt-4o");
    messages.request({
      model: "m",
      max_tokens: 5,
      top_k: 3,
      context_management: {},
      system: [{ type: "text", text: "s", cache_control: { type: "ephemeral" } }],
      messages: [hi],
      metadata: { user_id: "u".repeat(100) },
      thinking: { type: "enabled", budget_tokens: 2000 },
      tools: [
        { name: "f", input_schema: { type: "object" } },
        { type: "web_search_20250305", name: "web_search" },
      ],
    });
    expect(messages.dropped.toSorted()).toEqual(
      [
        "cache_control",
        "context_management",
        "metadata.user_id",
        "thinking",
        "tools.web_search_20250305",
        "top_k",
      ].toSorted(),
    );
  });
});

describe("Anthropic clients", () => {
  it("keep error marks, pictures in results and the order of results", () => {
    const body = run("anthropic-messages", "openai-chat", "gpt-4o").request({
      max_tokens: 9,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "so?" },
            {
              type: "tool_result",
              tool_use_id: "a",
              is_error: true,
              content: [
                { type: "text", text: "no" },
                { type: "image", source: { type: "base64", media_type: "image/png", data: "AA" } },
              ],
            },
            { type: "tool_result", tool_use_id: "b", content: "yes" },
          ],
        },
      ],
    });
    expect(body["messages"]).toEqual([
      { role: "tool", tool_call_id: "a", content: "no" },
      { role: "tool", tool_call_id: "b", content: "yes" },
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: "data:image/png;base64,AA" } },
          { type: "text", text: "so?" },
        ],
      },
    ]);
  });

  it("carry errors of tools to Gemini", () => {
    const call = { role: "assistant", content: [{ type: "tool_use", id: "a", name: "f", input: {} }] };
    const body = run("anthropic-messages", "gemini-generate", "gemini-2.5-pro").request({
      max_tokens: 9,
      messages: [
        call,
        { role: "user", content: [{ type: "tool_result", tool_use_id: "a", is_error: true, content: "no" }] },
      ],
    });
    expect((body["contents"] as JsonObject[])[1]?.["parts"]).toEqual([
      { functionResponse: { name: "f", response: { error: "no" } } },
    ]);
  });

  it("see one open block at a time, with interleaved calls preserved whole", () => {
    const chunk = (delta: object, finish: string | null = null) => ({
      id: "c",
      model: "m",
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
    const part = (index: number, args: string, id?: string) => ({
      tool_calls: [{ index, ...(id && { id }), function: { ...(id && { name: id }), arguments: args } }],
    });
    const events = run("anthropic-messages", "openai-chat", "m").stream([
      chunk({ role: "assistant", content: "t" }),
      chunk(part(0, "", "a")),
      chunk(part(1, "{", "b")),
      chunk(part(0, "{}")),
      chunk(part(1, "}")),
      chunk({}, "tool_calls"),
      { choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } },
    ]);
    expect(
      events.map(({ type, index }) => (index === undefined ? type : `${String(type as string)} ${index as number}`)),
    ).toEqual([
      "message_start",
      "content_block_start 0",
      "content_block_delta 0",
      "content_block_stop 0",
      "content_block_start 1",
      "content_block_delta 1",
      "content_block_stop 1",
      "content_block_start 2",
      "content_block_delta 2",
      "content_block_stop 2",
      "message_delta",
      "message_stop",
    ]);
    expect(
      events
        .filter(({ type }) => type === "content_block_delta")
        .map(({ delta }) => (delta as JsonObject)["partial_json"]),
    ).toEqual([undefined, "{}", "{}"]);
    expect(events[0]).toMatchObject({ message: { usage: { input_tokens: 10 } } });
    expect(events.at(-2)).toMatchObject({
      delta: { stop_reason: "tool_use" },
      usage: { input_tokens: 7, output_tokens: 3 },
    });
  });

  it("read a refusal as one", () => {
    const answer = { choices: [{ message: { content: null, refusal: "I will not." }, finish_reason: "stop" }] };
    expect(run("anthropic-messages", "openai-chat", "m").answer(answer)).toMatchObject({
      stop_reason: "refusal",
      stop_details: { type: "refusal", category: null, explanation: null },
      content: [{ type: "text", text: "I will not." }],
    });
  });
});

describe("coding agents on Responses", () => {
  const custom = {
    type: "custom",
    name: "apply_patch",
    description: "edit",
    format: { type: "grammar", syntax: "lark", definition: "start: x" },
  };
  const offered = [
    custom,
    { type: "web_search" },
    { type: "namespace", name: "n" },
    { type: "function", name: "shell", parameters: {} },
  ];

  it("get free-text tools as functions and their input back as text", () => {
    const responses = run("openai-responses", "openai-chat", "m");
    const body = responses.request({
      input: [
        { role: "user", content: [{ type: "input_text", text: "go" }] },
        { type: "custom_tool_call", call_id: "c0", name: "apply_patch", input: "*** Begin" },
        { type: "custom_tool_call_output", call_id: "c0", output: "done" },
      ],
      tools: offered,
      include: ["reasoning.encrypted_content"],
      store: false,
    });
    expect((body["tools"] as JsonObject[]).map((entry) => (entry["function"] as JsonObject)["name"])).toEqual([
      "apply_patch",
      "shell",
    ]);
    expect(body["messages"]).toMatchObject([
      { role: "user", content: "go" },
      {
        role: "assistant",
        tool_calls: [{ id: "c0", function: { name: "apply_patch", arguments: '{"input":"*** Begin"}' } }],
      },
      { role: "tool", tool_call_id: "c0", content: "done" },
    ]);
    expect(responses.dropped).toEqual(["tools.web_search", "tools.namespace"]);
    const call = { id: "c1", function: { name: "apply_patch", arguments: '{"input":"*** End"}' } };
    const answer = responses.answer({
      id: "chatcmpl-9",
      choices: [{ message: { content: "ok", tool_calls: [call] }, finish_reason: "tool_calls" }],
    });
    expect(answer).toMatchObject({
      id: "resp_9",
      object: "response",
      status: "completed",
      store: false,
      tools: offered,
    });
    expect(answer["output"]).toMatchObject([
      { type: "message" },
      { type: "custom_tool_call", call_id: "c1", input: "*** End" },
    ]);
    const events = responses.stream([
      { id: "x", choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call }] }, finish_reason: null }] },
      { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
    ]);
    expect(events.map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.custom_tool_call_input.delta",
      "response.custom_tool_call_input.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, at) => at));
  });

  it("see text in parts and the reason of a cut answer", () => {
    const events = run("openai-responses", "openai-chat", "m").stream([
      {
        id: "x",
        created: 4,
        model: "up",
        choices: [{ index: 0, delta: { reasoning_content: "why" }, finish_reason: null }],
      },
      { choices: [{ index: 0, delta: { content: "he" }, finish_reason: null }] },
      { choices: [{ index: 0, delta: { content: "y" }, finish_reason: "length" }] },
      { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 1 } } },
    ]);
    expect(events.map(({ type }) => (type as string).replace("response.", ""))).toEqual([
      "created",
      "in_progress",
      "output_item.added",
      "reasoning_summary_part.added",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.done",
      "reasoning_summary_part.done",
      "output_item.done",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "incomplete",
    ]);
    expect(events.at(-1)).toMatchObject({
      response: {
        status: "incomplete",
        incomplete_details: { reason: "max_output_tokens" },
        usage: { input_tokens: 3, output_tokens: 2, input_tokens_details: { cached_tokens: 1 } },
      },
    });
  });
});

describe("upstreams that report no usage", () => {
  const counted = toUsage({ input: 5, output: 2 });
  const chunks: readonly object[] = [
    { id: "x", choices: [{ index: 0, delta: { content: "hi" }, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
  ];

  it.each<[DialectId, string]>([
    ["anthropic-messages", '"input_tokens":5'],
    ["gemini-generate", '"promptTokenCount":5'],
    ["openai-responses", '"input_tokens":5'],
  ])("leave the counted one to %s clients", (client, shown) => {
    const events = run(client, "openai-chat", "m").stream(chunks, counted);
    expect(JSON.stringify(events.slice(-2))).toContain(shown);
  });
});

it("a call next to an empty text reaches an Anthropic upstream", () => {
  const call = { id: "t1", type: "function", function: { name: "f", arguments: "{}" } };
  const messages = [
    { role: "user", content: "hi" },
    { role: "assistant", content: "", tool_calls: [call] },
  ];
  const body = run("openai-chat", "anthropic-messages", "claude-haiku-4-5").request({ messages });
  expect(body["messages"]).toMatchObject([
    { role: "user" },
    { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "f" }] },
  ]);
});
