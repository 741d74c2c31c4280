import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import type { DialectId, JsonObject } from "../core/types.ts";

const cited = {
  type: "web_search_result_location",
  url: "https://e.example",
  title: "E",
  encrypted_index: "i",
  cited_text: "sun",
};
const block = (index: number, ...deltas: object[]) => [
  { type: "content_block_start", index, content_block: { type: "text", text: "" } },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];
const text = (written: string) => ({ type: "text_delta", text: written });
const citation = { type: "citations_delta", citation: cited };
const place = { start_index: 4, end_index: 10, url: "https://e.example", title: "E" };
const streamed = (client: DialectId, before: string, ...deltas: object[]) =>
  run(client, "anthropic-messages", "claude").stream([
    { type: "message_start", message: { id: "msg_1", model: "claude" } },
    ...(before === "" ? [] : block(0, text(before))),
    ...block(1, ...deltas),
    { type: "message_delta", delta: { stop_reason: "end_turn" } },
  ]);

it.each([
  ["before", [citation, text("Sunny"), text(".")]],
  ["after", [text("Sunny"), text("."), citation]],
])("a citation that streams %s its text names the place of it", (_when, deltas) => {
  const chunks = streamed("openai-chat", "Yes ", ...deltas);
  const annotations = chunks.flatMap((chunk) => {
    const [choice] = chunk["choices"] as { delta?: JsonObject }[];
    return (choice?.delta?.["annotations"] as object[] | undefined) ?? [];
  });
  expect(annotations).toEqual([{ type: "url_citation", url_citation: place }]);
});

it("a citation before the first word is not lost on Responses clients", () => {
  const last = streamed("openai-responses", "", citation, text("Sunny.")).at(-1);
  const annotations = [{ type: "url_citation", ...place, start_index: 0, end_index: 6 }];
  expect(last).toMatchObject({ response: { output: [{ content: [{ annotations }] }] } });
});

it("a source that a chat server names before the first word is not lost on Responses clients", () => {
  const choice = (delta: object) => ({ choices: [{ index: 0, delta, finish_reason: null }] });
  const events = run("openai-responses", "openai-chat", "m").stream([
    choice({ role: "assistant", content: "", annotations: [{ type: "url_citation", url_citation: place }] }),
    choice({ content: "Yes Sunny." }),
  ]);
  const added = events.filter((event) => event["type"] === "response.output_text.annotation.added");
  expect(added).toMatchObject([{ annotation_index: 0, annotation: place }]);
  expect(events.at(-1)).toMatchObject({ response: { output: [{ content: [{ annotations: [place] }] }] } });
});

it("a source without a title has an empty one for Anthropic clients, since some clients reject null", () => {
  const annotations = [{ type: "url_citation", url_citation: { url: "https://e.example" } }];
  const choices = [{ message: { content: "Sunny.", annotations }, finish_reason: "stop" }];
  const { content } = run("anthropic-messages", "openai-chat", "m").answer({ choices });
  expect(content).toMatchObject([{ text: "Sunny.", citations: [{ url: "https://e.example", title: "" }] }]);
});

it("Gemini clients receive the places of sources in bytes, candidate by candidate", () => {
  const written = "1 天😀晴朗。";
  const start_index = written.indexOf("😀");
  const end_index = written.indexOf("。");
  const cited = { type: "url_citation", url_citation: { start_index, end_index, url: "https://e.example" } };
  const segment = {
    startIndex: Buffer.byteLength(written.slice(0, start_index)),
    endIndex: Buffer.byteLength(written.slice(0, end_index)),
  };
  const message = { content: written, annotations: [cited] };
  const gemini = run("gemini-generate", "openai-chat", "m");
  const grounded = { groundingMetadata: { groundingSupports: [{ segment }] } };
  expect(gemini.answer({ choices: [{ message }] })).toMatchObject({ candidates: [grounded] });
  const last = gemini
    .stream([
      { choices: [{ index: 0, delta: { content: "1 天" } }] },
      { choices: [{ index: 1, delta: { content: "Sunny." } }] },
      { choices: [{ index: 0, delta: { content: "😀晴朗。", annotations: [cited] } }] },
    ])
    .at(-1);
  const [first, second] = (last as { candidates: JsonObject[] }).candidates;
  expect(first).toMatchObject(grounded);
  expect(second).not.toHaveProperty("groundingMetadata");
});

describe("sources next to the choices", () => {
  const known = {
    type: "url_citation",
    url_citation: { start_index: 0, end_index: 3, url: "https://a.example", title: "A" },
  };
  const sources = {
    citations: ["https://a.example", "https://b.example", "https://c.example", "https://b.example"],
    search_results: [{ url: "https://b.example", title: "B", snippet: "s" }],
  };
  const added = [
    { start_index: 0, end_index: 6, url: "https://b.example", title: "B" },
    { start_index: 0, end_index: 6, url: "https://c.example", title: "" },
  ];
  const message = { role: "assistant", content: "Sunny.", annotations: [known] };
  const whole = { ...sources, choices: [{ index: 0, message, finish_reason: "stop" }] };
  const chunk = (delta: object, finish: string | null = null) => ({
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const pieces = [
    { ...chunk({ content: "Sun", annotations: [known] }), citations: ["https://b.example"] },
    chunk({ content: "ny." }),
    { ...chunk({}, "stop"), ...sources },
  ];
  const upstream = (client: DialectId) => run(client, "openai-chat", "sonar-like");
  const urls = ["https://a.example", "https://b.example", "https://c.example"];

  it("are citations for Anthropic clients", () => {
    const citations = urls.map((url) => ({ type: "web_search_result_location", url }));
    expect(upstream("anthropic-messages").answer(whole)).toMatchObject({ content: [{ text: "Sunny.", citations }] });
    const events = upstream("anthropic-messages").stream(pieces);
    const cited = events.flatMap((event) => (event["delta"] as JsonObject | undefined)?.["citation"] ?? []);
    expect(cited).toMatchObject(citations);
    expect(events.filter((event) => event["type"] === "content_block_start")).toHaveLength(1);
  });

  it("are annotations for Responses clients", () => {
    const annotations = [known.url_citation, ...added].map((citation) => ({ type: "url_citation", ...citation }));
    const output = [{ content: [{ text: "Sunny.", annotations }] }];
    expect(upstream("openai-responses").answer(whole)).toMatchObject({ output });
    expect(upstream("openai-responses").stream(pieces).at(-1)).toMatchObject({ response: { output } });
  });

  it("are grounding for Gemini clients", () => {
    const candidates = [{ groundingMetadata: { groundingChunks: urls.map((uri) => ({ web: { uri } })) } }];
    expect(upstream("gemini-generate").answer(whole)).toMatchObject({ candidates });
    expect(upstream("gemini-generate").stream(pieces).at(-1)).toMatchObject({ candidates });
  });

  it("stand under the text of an answer with calls, and not behind the calls of a stream", () => {
    const call = { index: 0, id: "c", function: { name: "f", arguments: "{}" } };
    const calling = {
      ...sources,
      choices: [{ message: { content: "Look.", annotations: [known], tool_calls: [call] } }],
    };
    expect(upstream("anthropic-messages").answer(calling)).toMatchObject({
      content: [{ type: "text", citations: urls.map((url) => ({ url })) }, { type: "tool_use" }],
    });
    const events = upstream("anthropic-messages").stream([
      chunk({ content: "Look." }),
      chunk({ tool_calls: [call] }),
      { ...chunk({}, "tool_calls"), ...sources },
    ]);
    const blocks = events.filter((event) => event["type"] === "content_block_start");
    expect(blocks).toMatchObject([{ content_block: { type: "text" } }, { content_block: { type: "tool_use" } }]);
  });
});

it("places and documents that Gemini found are sources as well as pages", () => {
  const found = { uri: "https://e.example", title: "E" };
  const groundingChunks = [{ web: found }, { maps: found }, { retrievedContext: found }];
  const candidate = { content: { parts: [{ text: "Sunny." }] }, finishReason: "STOP" };
  const body = { candidates: [{ ...candidate, groundingMetadata: { groundingChunks } }] };
  const annotations = groundingChunks.map(() => ({ url_citation: { ...place, start_index: 0, end_index: 6 } }));
  expect(run("openai-chat", "gemini-generate", "gemini-2.5-pro").answer(body)).toMatchObject({
    choices: [{ message: { annotations } }],
  });
});
