import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { consumeRows, readError, startRelayApp, type ConsumeRow, type RelayApp } from "../../kit/relay-app.ts";

let gateway: RelayApp;
let key: string;

beforeAll(async () => {
  gateway = await startRelayApp();
  await gateway.option("SelfUseModeEnabled", false);
  key = await gateway.token();
  const setting = JSON.stringify({ shared_ids: ["vs_1"] });
  await gateway.channel("gpt-4o,gpt-5,gpt-4.5-preview,gpt-4o-search-preview", { setting });
  await gateway.channel("claude-opus-4-6,claude-sonnet-4-6", { type: 14 });
  await gateway.channel("gemini-3.5-flash,gemini-2.5-pro", { type: 24 });
}, 60_000);
afterAll(() => gateway.close());
beforeEach(() => gateway.upstream.reset());

const MESSAGES = [{ role: "user", content: "hi" }];
/** Quota of 20 prompt tokens and 10 answer tokens at the list price. */
const PLAIN = { "gpt-4o": 20 * 1.25 + 10 * 5, "claude-opus-4-6": 20 * 2.5 + 10 * 12.5 } as const;

async function charged(path: string, body: object): Promise<ConsumeRow> {
  const response = await gateway.post(path, body, key);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  await gateway.settled();
  const [row] = await consumeRows(gateway, response.headers.get("x-request-id") ?? "");
  if (!row) throw new Error("nothing was charged");
  return row;
}

describe("service tiers", () => {
  // @weakness Money: Priority service and fast modes cost the operator several times the price that is charged
  it.each([
    ["priority by the price list", "/v1/chat/completions", "gpt-4o", { service_tier: "priority" }, 1.7],
    ["priority in other letters", "/v1/chat/completions", "gpt-4o", { service_tier: " Priority" }, 1.7],
    ["flex without a discount", "/v1/chat/completions", "gpt-4o", { service_tier: "flex" }, 1],
    ["the standard one", "/v1/chat/completions", "gpt-4o", { service_tier: "auto" }, 1],
    ["fast mode", "/v1/messages", "claude-opus-4-6", { speed: "fast" }, 6],
    ["a place", "/v1/messages", "claude-opus-4-6", { inference_geo: "us" }, 1.1],
    ["both at once", "/v1/messages", "claude-opus-4-6", { speed: "fast", inference_geo: "us" }, 6.6],
    ["standard speed", "/v1/messages", "claude-opus-4-6", { speed: "standard" }, 1],
  ] as const)("charge %s", async (...[, path, model, more, factor]) => {
    const row = await charged(path, { model, max_tokens: 100, messages: MESSAGES, ...more });
    expect(row.quota).toBe(Math.round(PLAIN[model] * factor));
  });

  it.each([
    ["/v1/chat/completions", "gpt-4o", { service_tier: "scale" }, "scale"],
    ["/v1/chat/completions", "gpt-4.5-preview", { service_tier: "priority" }, "priority"],
    ["/v1/messages", "claude-sonnet-4-6", { speed: "fast" }, "fast"],
  ])("are refused at %s of %s without a price", async (path, model, more, tier) => {
    const body = { model, max_tokens: 100, messages: MESSAGES, ...more };
    const response = await gateway.post(path, body, key);
    expect(response.status).toBe(400);
    expect((await readError(response)).message).toContain(`set ${tier} in ServiceTierRatio`);
    expect(gateway.upstream.requests).toHaveLength(0);
    await gateway.option("ServiceTierRatio", JSON.stringify({ [`${tier}/${model}`]: 3 }));
    expect((await charged(path, body)).other["service_tiers"]).toEqual([tier]);
    await gateway.option("ServiceTierRatio", "{}");
  });

  it("must be strings", async () => {
    const body = { model: "gpt-4o", messages: MESSAGES, service_tier: ["priority"] };
    expect((await gateway.post("/v1/chat/completions", body, key)).status).toBe(400);
  });
});

describe("images with a price per image", () => {
  it("are refused at a quality that the list price does not cover, until it is priced", async () => {
    await gateway.channel("qwen-image-2.0");
    const body = { model: "qwen-image-2.0", prompt: "a cat", quality: "hd" };
    const response = await gateway.post("/v1/images/generations", body, key);
    expect(response.status).toBe(400);
    expect(await readError(response)).toMatchObject({ code: "surcharge_not_priced", param: "quality" });
    await gateway.option("ServiceTierRatio", '{"image_hd":2}');
    expect((await charged("/v1/images/generations", body)).quota).toBe(2 * 0.035 * 500_000);
    await gateway.option("ServiceTierRatio", "{}");
  });
});

describe("hosted tools", () => {
  // @weakness Money: Web searches and other tools of the vendor are free
  it.each([false, true])("of Responses cost each call, stream %s", async (stream) => {
    const output = [
      { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "x" } },
      { type: "web_search_call", id: "ws_2", status: "completed", action: { type: "open_page", url: "x" } },
      { type: "web_search_call", id: "ws_3", status: "completed", action: { type: "search", query: "y" } },
      { type: "code_interpreter_call", id: "ci_1", container_id: "cntr_1", status: "completed" },
      { type: "code_interpreter_call", id: "ci_2", container_id: "cntr_1", status: "completed" },
      {
        type: "message",
        id: "m",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "x", annotations: [] }],
      },
    ];
    const usage = { input_tokens: 20, output_tokens: 10, total_tokens: 30 };
    const answer = {
      id: "resp_1",
      object: "response",
      created_at: 1,
      model: "gpt-4o",
      status: "completed",
      output,
      usage,
    };
    gateway.upstream.script("/responses", () => (stream ? buildEvents(answer) : { body: answer }));
    const tools = [{ type: "web_search" }, { type: "code_interpreter", container: { type: "auto" } }];
    const row = await charged("/v1/responses", { model: "gpt-4o", input: "hi", tools, stream });
    expect(row.other["tool_calls"]).toEqual({ web_search: 2, code_interpreter: 1 });
    expect(row.quota).toBe(PLAIN["gpt-4o"] + (2 * 0.01 + 0.03) * 500_000);
  });

  it.each([
    [{ type: "web_search_preview_2025_03_11" }, "web_search", 0.025],
    [{ type: "code_interpreter", container: { type: "auto", memory_limit: "64g" } }, "code_interpreter", 1.92],
    [{ type: "file_search", vector_store_ids: ["vs_1"] }, "file_search", 0.0025],
    [{ type: "image_generation" }, "image_generation", 0.25],
  ])("cost the price of the requested kind: %j", async (tool, called, dollars) => {
    const output = [{ type: `${called}_call`, id: "c_1", status: "completed" }];
    const usage = { input_tokens: 20, output_tokens: 10, total_tokens: 30 };
    const head = { id: "resp_1", object: "response", created_at: 1, model: "gpt-4o", status: "completed" };
    gateway.upstream.script("/responses", () => ({ body: { ...head, output, usage } }));
    const row = await charged("/v1/responses", { model: "gpt-4o", input: "hi", tools: [tool] });
    expect(row.quota).toBe(Math.round(PLAIN["gpt-4o"] + dollars * 500_000));
  });

  it.each([false, true])("of messages cost the calls in the usage, stream %s", async (stream) => {
    const usage = { input_tokens: 20, output_tokens: 10, server_tool_use: { web_search_requests: 3 } };
    const message = {
      id: "m",
      type: "message",
      role: "assistant",
      model: "c",
      content: [{ type: "text", text: "x" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage,
    };
    gateway.upstream.script("/messages", () => (stream ? messageEvents(message) : { body: message }));
    const tools = [{ type: "web_search_20250305", name: "web_search", max_uses: 5 }];
    const body = { model: "claude-opus-4-6", max_tokens: 100, messages: MESSAGES, tools, stream };
    const row = await charged("/v1/messages", body);
    expect(row.quota).toBe(PLAIN["claude-opus-4-6"] + 3 * 5_000);
  });

  it.each([
    ["gemini-3.5-flash", 2 * 7_000],
    ["gemini-2.5-pro", 2 * 17_500],
  ])("of %s cost each search", async (model, searches) => {
    gateway.upstream.script(":generateContent", () => ({
      body: {
        candidates: [
          {
            index: 0,
            content: { role: "model", parts: [{ text: "x" }] },
            finishReason: "STOP",
            groundingMetadata: { webSearchQueries: ["a", "b"] },
          },
        ],
        usageMetadata: { promptTokenCount: 0, candidatesTokenCount: 1, totalTokenCount: 1 },
      },
    }));
    const body = { contents: [{ role: "user", parts: [{ text: "hi" }] }], tools: [{ googleSearch: {} }] };
    const row = await charged(`/v1beta/models/${model}:generateContent`, body);
    expect(row.other["tool_calls"]).toEqual({ google_search: 2 });
    expect(row.quota).toBeGreaterThanOrEqual(searches);
    expect(row.quota).toBeLessThan(searches + 100);
  });

  it("of chats without a count cost one call", async () => {
    const row = await charged("/v1/chat/completions", { model: "gpt-4o", messages: MESSAGES, web_search_options: {} });
    expect(row.quota).toBe(PLAIN["gpt-4o"] + 5_000);
  });

  it("are refused without a price, and cost the operator's price", async () => {
    const body = { model: "gpt-4o", messages: MESSAGES, tools: [{ type: "moon_search" }] };
    const response = await gateway.post("/v1/chat/completions", body, key);
    expect(response.status).toBe(400);
    expect(await readError(response)).toMatchObject({ code: "surcharge_not_priced", param: "tools" });
    await gateway.option("ToolPrice", '{"moon_search":4}');
    expect((await charged("/v1/chat/completions", body)).quota).toBe(PLAIN["gpt-4o"] + 2_000);
    await gateway.option("ToolPrice", "{}");
  });

  it("are reserved before they run", async () => {
    const poor = await gateway.token({ unlimited_quota: false, remain_quota: 20_000 });
    const body = { model: "gpt-4o", input: "hi", max_output_tokens: 10, tools: [{ type: "web_search" }] };
    const ask = (more: object) => gateway.post("/v1/responses", { ...body, ...more }, poor);
    expect((await ask({})).status).toBe(403);
    expect((await ask({ max_tool_calls: 1 })).status).toBe(200);
  });

  it.each([
    [{ type: "function", function: { name: "f", parameters: {} } }],
    [{ type: "custom", custom: { name: "c" } }],
  ])("do not include the client's own tools", async (tool) => {
    const row = await charged("/v1/chat/completions", { model: "gpt-4o", messages: MESSAGES, tools: [tool] });
    expect(row.quota).toBe(PLAIN["gpt-4o"]);
  });
});

function stream(events: readonly object[]) {
  const blocks = events.map(
    (event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`,
  );
  return { headers: { "content-type": "text/event-stream" }, body: blocks.join("") };
}

function buildEvents(answer: { readonly output: readonly object[] }) {
  return stream([
    { type: "response.created", response: { ...answer, status: "in_progress", output: [] } },
    ...answer.output.map((item, output_index) => ({ type: "response.output_item.done", output_index, item })),
    { type: "response.output_text.delta", item_id: "m", output_index: 5, content_index: 0, delta: "x" },
    { type: "response.completed", response: answer },
  ]);
}

function messageEvents(message: { readonly usage: object }) {
  return stream([
    { type: "message_start", message: { ...message, content: [], usage: { input_tokens: 20, output_tokens: 1 } } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "x" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: message.usage },
    { type: "message_stop" },
  ]);
}
