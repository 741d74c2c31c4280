import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import { anyText } from "../core/read.ts";
import type { JsonObject } from "../core/types.ts";

type Protocol = "anthropic-messages" | "gemini-generate" | "openai-responses";

const URL_A = "https://a.example";
const MODELS: Readonly<Record<Protocol, string>> = {
  "anthropic-messages": "claude-sonnet-4-5",
  "gemini-generate": "gemini-3-pro",
  "openai-responses": "gpt-5.2",
};

/** An answer that searched for `q`, found A and cites it, both whole and as events. */
const use = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "q" } };
const found = {
  type: "web_search_tool_result",
  tool_use_id: "srvtoolu_1",
  content: [{ type: "web_search_result", url: URL_A, title: "A", encrypted_content: "x", page_age: null }],
};
const citation = { type: "web_search_result_location", url: URL_A, title: "A", cited_text: "f", encrypted_index: "i" };
const usage = { input_tokens: 1, output_tokens: 2 };
const ofClaude = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [use, found, { type: "text", text: "found", citations: [citation] }],
  stop_reason: "end_turn",
  usage,
};
const claudeEvents = [
  { type: "message_start", message: { id: "msg_1", model: "m", usage } },
  { type: "content_block_start", index: 0, content_block: { ...use, input: {} } },
  { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"query":"q"}' } },
  { type: "content_block_stop", index: 0 },
  { type: "content_block_start", index: 1, content_block: found },
  { type: "content_block_stop", index: 1 },
  { type: "content_block_start", index: 2, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 2, delta: { type: "citations_delta", citation } },
  { type: "content_block_delta", index: 2, delta: { type: "text_delta", text: "found" } },
  { type: "content_block_stop", index: 2 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
  { type: "message_stop" },
];
const call = {
  type: "web_search_call",
  id: "ws_1",
  status: "completed",
  action: { type: "search", query: "q", queries: ["q"], sources: [{ type: "url", url: URL_A }] },
};
const annotation = { type: "url_citation", url: URL_A, title: "A", start_index: 0, end_index: 5 };
const message = {
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text: "found", annotations: [annotation] }],
};
const response = { id: "resp_1", model: "m", status: "completed", output: [call, message], usage };
const responseEvents = [
  { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
  { type: "response.output_item.done", output_index: 0, item: call },
  { type: "response.output_item.done", output_index: 1, item: message },
  { type: "response.completed", response },
];
const candidate = {
  content: { role: "model", parts: [{ text: "found" }] },
  finishReason: "STOP",
  groundingMetadata: {
    webSearchQueries: ["q"],
    groundingChunks: [{ web: { uri: URL_A, title: "A" } }],
    groundingSupports: [{ segment: { startIndex: 0, endIndex: 5 }, groundingChunkIndices: [0] }],
  },
};
const grounded = { candidates: [candidate], usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2 } };

const ANSWERS: Readonly<Record<Protocol, { whole: JsonObject; events: object[] }>> = {
  "anthropic-messages": { whole: ofClaude, events: claudeEvents },
  "openai-responses": { whole: response as unknown as JsonObject, events: responseEvents },
  "gemini-generate": { whole: grounded, events: [grounded] },
};
const upstreams = Object.keys(ANSWERS) as Protocol[];

/** Returns the upstreams that speak another protocol than the client. */
const othersThan = (client: Protocol) => upstreams.filter((upstream) => upstream !== client);
const createBridge = (client: Protocol | "openai-chat", upstream: Protocol) => run(client, upstream, MODELS[upstream]);

it.each(othersThan("anthropic-messages"))(
  "a search of %s is a call with its result for Anthropic clients",
  (upstream) => {
    const { whole, events } = ANSWERS[upstream];
    const bridge = createBridge("anthropic-messages", upstream);
    const id = "srvtoolu_fw_01R_0";
    const result = { type: "web_search_result", url: URL_A, title: upstream === "openai-responses" ? "" : "A" };
    const answer = bridge.answer(whole);
    expect(answer["content"]).toMatchObject([
      { type: "server_tool_use", id, name: "web_search", input: { query: "q" } },
      { type: "web_search_tool_result", tool_use_id: id, content: [result] },
      { type: "text", text: "found", citations: [{ type: "web_search_result_location", url: URL_A }] },
    ]);
    expect(answer["usage"]).toMatchObject({ server_tool_use: { web_search_requests: 1 } });
    const streamed = bridge.stream(events);
    const starts = streamed.filter(({ type }) => type === "content_block_start");
    expect(starts.map(({ index }) => index)).toEqual(starts.map((_start, at) => at));
    const kinds = starts.map(({ content_block }) => (content_block as JsonObject)["type"]);
    expect(kinds).toEqual(expect.arrayContaining(["server_tool_use", "web_search_tool_result", "text"]));
    expect(streamed.filter(({ type }) => type === "content_block_stop")).toHaveLength(starts.length);
    expect(JSON.stringify(streamed)).toContain('"partial_json":"{\\"query\\":\\"q\\"}"');
    expect(streamed.find(({ type }) => type === "message_delta")?.["usage"]).toMatchObject({
      server_tool_use: { web_search_requests: 1 },
    });
  },
);

it.each(othersThan("openai-responses"))("a search of %s is an item for Responses clients", (upstream) => {
  const { whole, events } = ANSWERS[upstream];
  const bridge = createBridge("openai-responses", upstream);
  const item = {
    type: "web_search_call",
    status: "completed",
    action: { type: "search", query: "q", queries: ["q"], sources: [{ type: "url", url: URL_A }] },
  };
  const { output } = bridge.answer(whole) as { output: JsonObject[] };
  expect(output).toMatchObject([item, { type: "message", content: [{ text: "found" }] }]);
  expect(output[1]).toMatchObject({ content: [{ annotations: [{ type: "url_citation", url: URL_A }] }] });
  const streamed = bridge.stream(events);
  const types = streamed.map(({ type }) => type);
  for (const step of ["in_progress", "searching", "completed"])
    expect(types).toContain(`response.web_search_call.${step}`);
  const ended = streamed.at(-1)?.["response"] as { output: JsonObject[] };
  expect(ended.output.map((one) => anyText(one, "type")).toSorted()).toEqual(["message", "web_search_call"]);
  expect(streamed.map((event) => event["sequence_number"])).toEqual(streamed.map((_event, at) => at));
});

it.each(othersThan("gemini-generate"))("a search of %s grounds the answer of Gemini clients", (upstream) => {
  const { whole, events } = ANSWERS[upstream];
  const bridge = createBridge("gemini-generate", upstream);
  const grounding = { webSearchQueries: ["q"], groundingChunks: [{ web: { uri: URL_A, title: "A" } }] };
  const found = { candidates: [{ groundingMetadata: grounding }] };
  expect(bridge.answer(whole)).toMatchObject(found);
  expect(bridge.stream(events).at(-1)).toMatchObject(found);
});

describe.each(upstreams)("a search of %s", (upstream) => {
  const { whole, events } = ANSWERS[upstream];
  const bridge = (client: Protocol | "openai-chat") => createBridge(client, upstream);
  const others = othersThan(upstream);

  it("is cited for chat clients, who have no place for the call", () => {
    const cited = { type: "url_citation", url_citation: { url: URL_A } };
    expect(bridge("openai-chat").answer(whole)).toMatchObject({ choices: [{ message: { annotations: [cited] } }] });
    const streamed = JSON.stringify(bridge("openai-chat").stream(events));
    expect(streamed).toContain(URL_A);
    expect(streamed + JSON.stringify(bridge("openai-chat").answer(whole))).not.toContain("fw_");
  });

  it.each(others)("is part of the history that a client of %s sends back", (client) => {
    const answer = bridge(client).answer(whole);
    const asked: Readonly<Record<Protocol, () => JsonObject>> = {
      "anthropic-messages": () => ({
        max_tokens: 9,
        messages: [
          { role: "user", content: "hi" },
          { role: "assistant", content: answer["content"] },
          { role: "user", content: "more" },
        ],
      }),
      "openai-responses": () => ({
        input: [
          { role: "user", content: "hi" },
          ...(answer["output"] as JsonObject[]),
          { role: "user", content: "more" },
        ],
      }),
      "gemini-generate": () => ({
        contents: [
          { role: "user", parts: [{ text: "hi" }] },
          (answer["candidates"] as { content: JsonObject }[])[0]?.content ?? {},
          { role: "user", parts: [{ text: "more" }] },
        ],
      }),
    };
    expect(JSON.stringify(bridge(client).request(asked[client]()))).toContain("found");
  });
});

it("a search that failed is an error for every client", () => {
  const failed = { ...call, status: "failed" };
  const body = { ...response, output: [failed, message] };
  const { content } = run("anthropic-messages", "openai-responses", "gpt-5.2").answer(body) as {
    content: JsonObject[];
  };
  expect(content[1]?.["content"]).toEqual({ type: "web_search_tool_result_error", error_code: "unavailable" });
  const error = { type: "web_search_tool_result_error", error_code: "max_uses_exceeded" };
  const claude = { ...ofClaude, content: [use, { ...found, content: error }, { type: "text", text: "x" }] };
  const { output } = run("openai-responses", "anthropic-messages", "claude").answer(claude) as { output: JsonObject[] };
  expect(output[0]).toMatchObject({ type: "web_search_call", status: "failed" });
});
