// Requests of real clients, member by member: how members are treated that the other protocol has no equivalent for.
import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import type { DialectId, JsonObject } from "../core/types.ts";

const hi = { role: "user", content: "hi" };
const contents = [{ role: "user", parts: [{ text: "hi" }] }];
const base64 = (text: string) => Buffer.from(text).toString("base64");
const readMessages = (body: JsonObject) => body["messages"] as JsonObject[];

describe("what is lost is named", () => {
  it.each<[DialectId, DialectId, object, string[]]>([
    [
      "gemini-generate",
      "openai-chat",
      { contents, generationConfig: { mediaResolution: "LOW", audioTimestamp: true, topK: 3, max_output_tokens: 9 } },
      ["generationConfig.mediaResolution", "generationConfig.audioTimestamp", "top_k"],
    ],
    [
      "gemini-generate",
      "anthropic-messages",
      {
        contents,
        safetySettings: [],
        labels: { a: "b" },
        tools: [{ googleMaps: {}, functionDeclarations: [{ name: "f" }] }],
      },
      ["safetySettings", "labels", "tools.googleMaps"],
    ],
    [
      "anthropic-messages",
      "openai-chat",
      {
        messages: [hi],
        thinking: { type: "adaptive", display: "summarized" },
        output_config: { effort: "low", task_budget: { type: "tokens", total: 9 } },
        metadata: { user_id: "u", team: "t" },
        context_management: { edits: [] },
        container: "c",
      },
      ["context_management", "container", "thinking.display", "output_config.task_budget", "metadata.team"],
    ],
    [
      "anthropic-messages",
      "openai-chat",
      {
        messages: [
          hi,
          { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: {} }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "no", is_error: true }] },
        ],
      },
      ["messages.tool_result.is_error"],
    ],
    [
      "openai-responses",
      "openai-chat",
      {
        input: [
          { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAA" },
          { type: "web_search_call", id: "ws_1", status: "completed" },
          { role: "user", content: "hi" },
        ],
        include: ["reasoning.encrypted_content", "file_search_call.results"],
        max_tool_calls: 3,
      },
      [
        "max_tool_calls",
        "include.file_search_call.results",
        "input.reasoning.encrypted_content",
        "input.web_search_call",
      ],
    ],
    [
      "openai-chat",
      "anthropic-messages",
      { messages: [hi], prediction: { type: "content", content: "x" }, logprobs: true, verbosity: "low" },
      ["prediction", "logprobs", "verbosity"],
    ],
  ])("%s to %s: %j", (client, upstream, body, names) => {
    const bridge = run(client, upstream, "gpt-5.2");
    bridge.request(body);
    expect(bridge.dropped).toEqual(names);
  });
});

describe("what would mean something else is refused", () => {
  const image = { type: "image", source: { type: "file", file_id: "file_1" } };
  const document = { type: "document", source: { type: "file", file_id: "file_1" } };
  const video = { inlineData: { mimeType: "video/mp4", data: "AA" } };
  it.each<[DialectId, DialectId, object, string]>([
    ["anthropic-messages", "openai-chat", { messages: [{ role: "user", content: [image] }] }, "source.file_id"],
    ["anthropic-messages", "gemini-generate", { messages: [{ role: "user", content: [document] }] }, "source.file_id"],
    ["gemini-generate", "anthropic-messages", { contents: [{ role: "user", parts: [video] }] }, "video_url"],
    [
      "gemini-generate",
      "openai-chat",
      { contents, generationConfig: { responseMimeType: "text/x.enum", responseSchema: { enum: ["a"] } } },
      "generationConfig.responseMimeType",
    ],
    [
      "gemini-generate",
      "openai-chat",
      { contents: [{ parts: [{ fileData: { mimeType: "application/pdf", fileUri: "https://x.example/a.pdf" } }] }] },
      "fileData.fileUri",
    ],
    ["openai-chat", "openai-responses", { messages: [hi], logit_bias: { 1: 5 } }, "logit_bias"],
  ])("%s to %s: %j", (client, upstream, body, param) => {
    expect(() => run(client, upstream, "m").request(body)).toThrow(
      expect.objectContaining({ code: "unsupported_parameter", param, status: 400 }),
    );
  });

  it.each<[DialectId, DialectId, object, RegExp]>([
    ["anthropic-messages", "openai-chat", { messages: [{ role: "user", content: [image] }] }, /inside of the request/],
    ["openai-chat", "anthropic-messages", { messages: [hi], n: 2 }, /Ask once for each answer/],
    ["gemini-generate", "openai-chat", { contents, cachedContent: "cachedContents/1" }, /Send what is cached/],
  ])("%s to %s, with the way out: %j", (client, upstream, body, message) => {
    expect(() => run(client, upstream, "m").request(body)).toThrow(message);
  });
});

describe("content in other words", () => {
  it("of Anthropic clients: search results, documents by content, tools that answer with all of it", () => {
    const search = {
      type: "search_result",
      source: "https://x.example",
      title: "T",
      content: [{ type: "text", text: "found" }],
    };
    const picture = { type: "image", source: { type: "base64", media_type: "image/png", data: "AA" } };
    const chat = run("anthropic-messages", "openai-chat", "gpt-4.1");
    const body = chat.request({
      messages: [
        {
          role: "user",
          content: [
            search,
            { type: "document", source: { type: "content", content: [{ type: "text", text: "d" }, picture] } },
          ],
        },
        { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: [search, picture] }] },
      ],
    });
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA" } };
    const reported = "T\nhttps://x.example\nfound";
    expect(readMessages(body)).toMatchObject([
      { content: [{ type: "text", text: reported }, { type: "text", text: "d" }, image] },
      { role: "assistant" },
      { role: "tool", content: reported },
      { role: "user", content: [image] },
    ]);
    expect(chat.dropped).toEqual([]);
  });

  it("of Gemini clients: a bare system text, media of a result, code that ran, sound and text inline", () => {
    const body = run("gemini-generate", "openai-chat", "gpt-4.1").request({
      system_instruction: "be brief",
      contents: [
        {
          role: "user",
          parts: [
            { inlineData: { mimeType: "text/plain", data: base64("notes") } },
            { inline_data: { mime_type: "audio/mpeg", data: "AA" } },
          ],
        },
        {
          role: "model",
          parts: [
            { executableCode: { language: "PYTHON", code: "1+1" } },
            { codeExecutionResult: { outcome: "OUTCOME_OK", output: "2" } },
            { functionCall: { id: "c1", name: "look", args: {} } },
          ],
        },
        {
          role: "user",
          parts: [
            {
              functionResponse: {
                id: "c1",
                name: "look",
                response: { output: "see" },
                parts: [{ inlineData: { mimeType: "image/png", data: "AA" } }],
              },
            },
          ],
        },
      ],
    });
    expect(readMessages(body)).toMatchObject([
      { role: "system", content: "be brief" },
      {
        content: [
          { type: "text", text: "notes" },
          { type: "input_audio", input_audio: { format: "mp3" } },
        ],
      },
      { role: "assistant", content: "\n```python\n1+1\n```\n\n```\n2\n```\n", tool_calls: [{ id: "c1" }] },
      { role: "tool", tool_call_id: "c1", content: "see" },
      { role: "user", content: [{ type: "image_url" }] },
    ]);
  });

  it("of Responses clients: pictures of several results follow all of them", () => {
    const call = (call_id: string) => ({ type: "function_call", call_id, name: "look", arguments: "{}" });
    const result = (call_id: string, image_url: string) => ({
      type: "function_call_output",
      call_id,
      output: [
        { type: "input_text", text: call_id },
        { type: "input_image", image_url },
      ],
    });
    const input = [
      call("a"),
      call("b"),
      result("a", "data:image/png;base64,AA"),
      result("b", "data:image/png;base64,BB"),
      { role: "user", content: "and?" },
    ];
    const image = (url: string) => ({ type: "image_url", image_url: { url } });
    const pictures = [image("data:image/png;base64,AA"), image("data:image/png;base64,BB")];
    const reported = [
      { role: "assistant" },
      { role: "tool", tool_call_id: "a", content: "a" },
      { role: "tool", tool_call_id: "b", content: "b" },
      { role: "user", content: pictures },
    ];
    const messages = (items: object[]) =>
      readMessages(run("openai-responses", "openai-chat", "gpt-4.1").request({ input: items }));
    expect(messages(input)).toMatchObject([...reported, { role: "user", content: "and?" }]);
    expect(messages(input.slice(0, -1))).toMatchObject(reported);
  });

  it("of chat clients: a refusal among the parts of a turn", () => {
    const refusal = { type: "refusal", refusal: "I will not." };
    const body = run("openai-chat", "openai-responses", "gpt-5.2").request({
      messages: [hi, { role: "assistant", content: [{ type: "text", text: "Sorry." }, refusal] }, hi],
    });
    const content = [{ type: "output_text", text: "Sorry." }, refusal];
    expect(body["input"]).toMatchObject([{}, { role: "assistant", content }, {}]);
  });

  it("instructions alone are said by the user", () => {
    const alone = { messages: [{ role: "system", content: "say hi" }] };
    expect(run("openai-chat", "anthropic-messages", "claude-sonnet-5").request(alone)).toMatchObject({
      messages: [{ role: "user", content: "say hi" }],
    });
    expect(run("openai-chat", "gemini-generate", "gemini-3-pro").request(alone)).toMatchObject({
      contents: [{ role: "user", parts: [{ text: "say hi" }] }],
    });
  });

  it("JSON next to functions is asked for in words where Gemini takes only one of both", () => {
    const tools = [
      { type: "function", function: { name: "f", parameters: { type: "object", properties: { a: {} } } } },
    ];
    const response_format = { type: "json_schema", json_schema: { name: "s", schema: { type: "object" } } };
    const to = (model: string) =>
      run("openai-chat", "gemini-generate", model).request({ messages: [hi], tools, response_format });
    expect(to("gemini-3-flash")).toMatchObject({ generationConfig: { responseMimeType: "application/json" } });
    const older = to("gemini-2.5-flash");
    expect(older["generationConfig"]).toBeUndefined();
    expect(JSON.stringify(older["systemInstruction"])).toContain("JSON schema");
  });

  it("limits below what Responses takes are raised", () => {
    const to = (max_tokens: number) =>
      run("openai-chat", "openai-responses", "gpt-5.2").request({ messages: [hi], max_tokens })["max_output_tokens"];
    expect([to(1), to(16), to(400)]).toEqual([16, 16, 400]);
  });
});
