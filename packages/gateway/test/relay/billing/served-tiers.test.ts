import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { consumeRows, startRelayApp, type RelayApp } from "../../kit/relay-app.ts";

let gateway: RelayApp;
let key: string;
const RATIOS = { priority: 2, flex: 0.5, "priority/claude-opus-4-6": 3 };

beforeAll(async () => {
  gateway = await startRelayApp();
  key = await gateway.token();
  await gateway.channel("gpt-4o");
  await gateway.channel("claude-opus-4-6", { type: 14 });
  await gateway.option("ServiceTierRatio", JSON.stringify(RATIOS));
}, 60_000);
afterAll(() => gateway.close());
beforeEach(() => gateway.upstream.reset());

const GPT = 20 * 1.25 + 10 * 5;
const CLAUDE = 20 * 2.5 + 10 * 12.5;
const MESSAGES = [{ role: "user", content: "hi" }];

const chunks = (...events: object[]) => ({
  headers: { "content-type": "text/event-stream" },
  body: [...events.map((event) => `data: ${JSON.stringify(event)}\n\n`), "data: [DONE]\n\n"].join(""),
});
const buildNamedEvents = (...events: { readonly type: string }[]) => ({
  headers: { "content-type": "text/event-stream" },
  body: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
});

function chatServes(tier: string | undefined): void {
  const head = { id: "c", created: 1, model: "gpt-4o", ...(tier && { service_tier: tier }) };
  const usage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 };
  gateway.upstream.script("/chat/completions", ({ json }) => {
    const message = { role: "assistant", content: "ok" };
    if (json?.["stream"] !== true)
      return {
        body: { ...head, object: "chat.completion", choices: [{ index: 0, message, finish_reason: "stop" }], usage },
      };
    const chunk = { ...head, object: "chat.completion.chunk" };
    return chunks(
      { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      { ...chunk, choices: [], usage },
    );
  });
}

function responsesServe(tier: string | undefined): void {
  const content = [{ type: "output_text", text: "ok", annotations: [] }];
  const output = [{ type: "message", id: "m", role: "assistant", status: "completed", content }];
  const usage = { input_tokens: 20, output_tokens: 10, total_tokens: 30 };
  const head = { id: "r", object: "response", created_at: 1, model: "gpt-4o" };
  const whole = { ...head, status: "completed", output, usage, ...(tier && { service_tier: tier }) };
  gateway.upstream.script("/responses", ({ json }) => {
    if (json?.["stream"] !== true) return { body: whole };
    const asked = { ...head, status: "in_progress", output: [], service_tier: json["service_tier"] ?? "auto" };
    return buildNamedEvents(
      { type: "response.created", response: asked } as { type: string },
      { type: "response.output_text.delta", item_id: "m", output_index: 0, content_index: 0, delta: "ok" } as {
        type: string;
      },
      { type: "response.completed", response: whole } as { type: string },
    );
  });
}

function messagesServe(said: object): void {
  const usage = { input_tokens: 20, output_tokens: 10, ...said };
  const head = { id: "m", type: "message", role: "assistant", model: "claude-opus-4-6" };
  gateway.upstream.script("/v1/messages", ({ json }) => {
    const content = [{ type: "text", text: "ok" }];
    if (json?.["stream"] !== true)
      return { body: { ...head, content, stop_reason: "end_turn", stop_sequence: null, usage } };
    const start = { ...head, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
    return buildNamedEvents(
      { type: "message_start", message: start } as { type: string },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } } as { type: string },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "ok" } } as { type: string },
      { type: "content_block_stop", index: 0 } as { type: string },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 10 } } as { type: string },
      { type: "message_stop" },
    );
  });
}

async function charged(path: string, body: object) {
  const response = await gateway.post(path, body, key);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  await gateway.settled();
  const [row] = await consumeRows(gateway, response.headers.get("x-request-id") ?? "");
  if (!row) throw new Error("nothing was charged");
  return row;
}

describe.each([false, true])("the tier that served is charged, stream %s", (stream) => {
  // @weakness Money: The tier that was asked for is billed, not the one that served
  it.each([
    ["priority", "default", 1, ["default"]],
    ["auto", "priority", 2, ["priority"]],
    [undefined, "priority", 2, ["priority"]],
    [undefined, "flex", 0.5, ["flex"]],
    ["flex", "priority", 2, ["priority"]],
    ["priority", "priority", 2, undefined],
    ["priority", undefined, 2, undefined],
    ["priority", "auto", 2, undefined],
    ["auto", "default", 1, undefined],
  ] as const)("asked for %s, answered by %s", async (asked, served, factor, marked) => {
    for (const [path, input, serve] of [
      ["/v1/chat/completions", { messages: MESSAGES }, chatServes],
      ["/v1/responses", { input: "hi" }, responsesServe],
    ] as const) {
      serve(served);
      const row = await charged(path, { model: "gpt-4o", stream, ...input, ...(asked && { service_tier: asked }) });
      expect(row.quota, path).toBe(Math.round(GPT * factor));
      expect(row.other["served_tiers"], path).toEqual(marked);
    }
  });

  it.each([
    [{ service_tier: "auto" }, { service_tier: "priority" }, 3, ["priority"]],
    [{ inference_geo: "us" }, { inference_geo: "global" }, 1, ["default"]],
    [{}, { inference_geo: "us", service_tier: "standard" }, 1.1, ["geo_us"]],
    [{ speed: "fast" }, { speed: "standard" }, 1, ["default"]],
    [{ inference_geo: "us" }, { service_tier: "priority" }, 3.3, ["geo_us", "priority"]],
    [{ inference_geo: "us" }, { inference_geo: "not_available", service_tier: null }, 1.1, undefined],
  ] as const)("of messages, asked %j, answered %j", async (asked, served, factor, marked) => {
    messagesServe(served);
    const row = await charged("/v1/messages", {
      model: "claude-opus-4-6",
      max_tokens: 100,
      messages: MESSAGES,
      stream,
      ...asked,
    });
    expect(row.quota).toBe(Math.round(CLAUDE * factor));
    expect(row.other["served_tiers"]).toEqual(marked);
  });

  it("is marked and not charged where it has no price", async () => {
    chatServes("scale");
    const row = await charged("/v1/chat/completions", { model: "gpt-4o", stream, messages: MESSAGES });
    expect(row.quota).toBe(GPT);
    expect(row.other).toMatchObject({ served_tiers: ["scale"], tier_not_charged: true });
  });
});
