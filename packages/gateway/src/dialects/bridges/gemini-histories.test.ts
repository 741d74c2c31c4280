// Histories, schemas and answers as Gemini, its clients and servers in front of it write them.
import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import type { JsonObject } from "../core/types.ts";

const hi = { role: "user", content: "hi" };
const png = { inlineData: { mimeType: "image/png", data: "AA" } };
const NO_SIGNATURE = "skip_thought_signature_validator";

describe("Gemini clients", () => {
  const chat = () => run("gemini-generate", "openai-chat", "gpt-4.1");
  const model = (...calls: object[]) => ({ role: "model", parts: calls.map((functionCall) => ({ functionCall })) });
  const answer = (functionResponse: object) => ({ role: "user", parts: [{ functionResponse }] });
  const convertMessages = (...contents: object[]) => chat().request({ contents })["messages"] as JsonObject[];
  const listCallIds = ([assistant, ...tools]: JsonObject[]) => [
    ((assistant?.["tool_calls"] ?? []) as JsonObject[]).map(({ id }) => id),
    tools.map((tool) => tool["tool_call_id"]),
  ];

  it.each([
    ["f-1", "f-2"],
    ["", ""],
  ])("may make up ids of results, %j, whose calls had none", (first, second) => {
    const results = [first, second].map((id) => answer({ id, name: "f", response: { output: id } }));
    const [calls, tools] = listCallIds(
      convertMessages(model({ name: "f", args: {} }, { name: "f", args: {} }), ...results),
    );
    expect(tools).toEqual(calls);
    expect(new Set(calls).size).toBe(2);
  });

  it("may send each result as a content: pictures follow all of them", () => {
    const messages = convertMessages(
      model({ id: "a", name: "f", args: {} }, { id: "b", name: "f", args: {} }),
      answer({ id: "a", name: "f", response: { output: "1" }, parts: [png] }),
      answer({ id: "b", name: "f", response: { output: "2" } }),
    );
    expect(messages.map(({ role }) => role)).toEqual(["assistant", "tool", "tool", "user"]);
  });

  it("learn how their media are no longer looked at, and which no one takes", () => {
    const bridge = chat();
    bridge.request({
      contents: [{ role: "user", parts: [{ ...png, videoMetadata: { fps: 1 }, media_resolution: { level: "LOW" } }] }],
    });
    expect(bridge.dropped).toEqual(["contents.parts.videoMetadata", "contents.parts.mediaResolution"]);
    const shown = { role: "model", parts: [{ text: "a" }, { fileData: { fileUri: "https://x.example/a.png" } }] };
    expect(() => chat().request({ contents: [shown] })).toThrow("contents.parts.fileData cannot be used");
  });

  it("may name values of maps and a choice that may be null in Google's spelling", () => {
    const either = { nullable: true, anyOf: [{ type: "STRING" }, { type: "INTEGER" }] };
    const map = { type: "OBJECT", additionalProperties: { type: "STRING" } };
    const parameters = { type: "OBJECT", properties: { map, other: { ...map, additional_properties: map }, either } };
    const { tools } = chat().request({
      contents: [{ parts: [] }],
      tools: [{ functionDeclarations: [{ parameters }] }],
    });
    const plain = { type: "object", additionalProperties: { type: "string" } };
    expect(tools).toMatchObject([
      {
        function: {
          parameters: {
            properties: {
              map: plain,
              other: { additionalProperties: plain },
              either: { anyOf: [{ type: "string" }, { type: "integer" }, { type: "null" }] },
            },
          },
        },
      },
    ]);
  });

  it("may limit functions without forcing one", () => {
    const body = chat().request({
      contents: [{ parts: [{ text: "hi" }] }],
      tools: [{ functionDeclarations: [{ name: "f" }, { name: "g" }] }],
      toolConfig: { functionCallingConfig: { mode: "VALIDATED", allowedFunctionNames: ["f"] } },
    });
    expect(body["tools"]).toMatchObject([{ function: { name: "f" } }]);
    expect(body["tools"]).toHaveLength(1);
    expect(body["tool_choice"]).toBeUndefined();
  });
});

describe("Gemini", () => {
  const contentsFor = (name: string, ...messages: object[]) =>
    run("openai-chat", "gemini-generate", name).request({ messages: [hi, ...messages] })["contents"] as JsonObject[];

  it("gets pictures of tools behind all of their results", () => {
    const tool_calls = ["a", "b"].map((id) => ({ id, type: "function", function: { name: id, arguments: "{}" } }));
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA" } };
    const contents = contentsFor(
      "gemini-2.5-pro",
      { role: "assistant", content: null, tool_calls },
      { role: "tool", tool_call_id: "a", content: [{ type: "text", text: "see" }, image] },
      { role: "tool", tool_call_id: "b", content: "2" },
      { role: "user", content: "so?" },
    );
    expect(contents.slice(2)).toEqual([
      {
        role: "user",
        parts: [
          { functionResponse: { name: "a", response: { output: "see" } } },
          { functionResponse: { name: "b", response: { output: "2" } } },
        ],
      },
      { role: "user", parts: [png, { text: "so?" }] },
    ]);
  });

  it("gets the pictures that it drew again as pictures, signed where they have to be", () => {
    const drawn = { candidates: [{ content: { parts: [{ text: "Here:" }, png, { text: "Good?" }] } }] };
    const answered = run("openai-chat", "gemini-generate", "gemini-2.5-flash-image").answer(drawn);
    const { content } = (answered["choices"] as { message: JsonObject }[])[0]?.message ?? {};
    const back = (name: string) => contentsFor(name, { role: "assistant", content }, hi)[1]?.["parts"];
    expect(back("gemini-2.5-flash-image")).toEqual([{ text: "Here:" }, png, { text: "Good?" }]);
    const signed = { ...png, thoughtSignature: NO_SIGNATURE };
    expect(back("gemini-3-pro-image")).toEqual([{ text: "Here:" }, signed, { text: "Good?" }]);
  });

  it("requires no parameter that is not there", () => {
    const tool = (required: string[]) => ({
      type: "function",
      function: { name: "f", parameters: { type: "object", properties: { a: { type: "string" } }, required } },
    });
    const body = run("openai-chat", "gemini-generate", "gemini-2.5-pro").request({
      messages: [hi],
      tools: [tool(["a", "b"]), tool(["b"])],
    });
    const properties = { a: { type: "string" } };
    expect(body["tools"]).toEqual([
      {
        functionDeclarations: [
          { name: "f", parameters: { type: "object", properties, required: ["a"] } },
          { name: "f", parameters: { type: "object", properties } },
        ],
      },
    ]);
  });

  const answered = (candidate: object) =>
    run("openai-chat", "gemini-generate", "gemini-3-pro").answer({ candidates: [candidate] })["choices"];

  it("may be stopped by a filter of the operator's own", () => {
    expect(answered({ content: {}, finishReason: "MODEL_ARMOR" })).toMatchObject([{ finish_reason: "content_filter" }]);
  });

  it("may leave ids of calls empty", () => {
    expect(answered({ content: { parts: [{ functionCall: { id: "", name: "f" } }] } })).toMatchObject([
      { message: { tool_calls: [{ id: expect.stringMatching(/^call_\w{24}$/) as string }] } },
    ]);
  });
});
