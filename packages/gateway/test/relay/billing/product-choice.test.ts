import { describe, expect, it } from "vitest";
import { chat, consumeRows, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();

// @weakness Money: The product is chosen by members that the price does not read
describe("members that choose another product", () => {
  it.each([
    ["context_window_fallbacks", ["gpt-5-pro"]],
    ["route", "fallback"],
    ["preset", "expensive"],
    ["provider", { order: ["dear"] }],
    ["content_policy_fallbacks", ["gpt-5-pro"]],
    ["api_base", "https://elsewhere.test"],
    ["extra_body", { models: ["gpt-5-pro"] }],
    ["extra_body", { max_tokens: 6_000 }],
  ])("%s with %j is refused by name, and nothing is sent", async (name, value) => {
    await relay.gateway.channel("gpt-4o");
    const response = await relay.ask("gpt-4o", { [name]: value });
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(new RegExp(`${name}.*would change the model or its price`));
    expect(relay.gateway.upstream.requests).toEqual([]);
  });

  it("compound_custom is refused at Groq", async () => {
    await relay.gateway.channel("groq/compound", { type: 1001 });
    const response = await relay.ask("groq/compound", { compound_custom: { models: { answering_model: "dear" } } });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("compound_custom");
  });

  it.each([
    ["enable_enhancement", true],
    ["with_search_enhance", true],
    ["plugins", ["plugin_web_search"]],
  ])("%s is refused until it is priced", async (name, value) => {
    await relay.gateway.option("SelfUseModeEnabled", "false");
    await relay.gateway.channel("gpt-4o");
    const response = await relay.ask("gpt-4o", { [name]: value });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("surcharge_not_priced");
    await relay.gateway.option("SelfUseModeEnabled", "true");
  });

  it("an operator may set them for a channel", async () => {
    await relay.gateway.channel("routed", { param_override: JSON.stringify({ models: ["routed", "other"] }) });
    const response = await relay.ask("routed");
    expect(response.status).toBe(200);
    expect(relay.gateway.upstream.requests[0]?.json).toHaveProperty("models");
  });
});

describe("sizes and qualities of pictures", () => {
  it.each([
    ["size", " 4096x4096"],
    ["size", "8k"],
    ["size", "4K "],
    ["size", "4k"],
    ["resolution", "huge"],
    ["image_size", "4096 x 4096"],
    ["width", "4096"],
    ["quality", " hd"],
    ["quality", "HD"],
  ])("%s %j is refused with the spellings that are known", async (name, value) => {
    await relay.gateway.channel("painter");
    await relay.gateway.option("ModelPrice", '{"painter":0.04}');
    const asked = { model: "painter", prompt: "a boat", [name]: value };
    const response = await relay.gateway.post("/v1/images/generations", asked, relay.key);
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(/must be/);
  });

  it.each([[{ image_size: "4096x4096" }], [{ resolution: "4K" }], [{ width: 4096, height: 4096 }], [{ size: "8K" }]])(
    "%j is a large picture, whichever member says so",
    async (members) => {
      await relay.gateway.option("SelfUseModeEnabled", "false");
      await relay.gateway.channel("qwen-image-2.0");
      const asked = { model: "qwen-image-2.0", prompt: "a boat", ...members };
      const response = await relay.gateway.post("/v1/images/generations", asked, relay.key);
      expect(response.status).toBe(400);
      expect(await response.text()).toContain("image_4k");
      await relay.gateway.option("SelfUseModeEnabled", "true");
    },
  );

  it("two members that disagree are refused", async () => {
    await relay.gateway.channel("painter");
    const asked = { model: "painter", prompt: "a boat", size: "256x256", width: 4096, height: 4096 };
    const response = await relay.gateway.post("/v1/images/generations", asked, relay.key);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("size and width");
  });
});

// @weakness Money: Instructions for speech of 250 KB are read by the model and not paid
describe("instructions for speech", () => {
  it("are refused above the length that their price covers", async () => {
    await relay.gateway.channel("tts-1");
    const asked = { model: "tts-1", input: "hi", voice: "alloy", instructions: "slow ".repeat(50_000) };
    const response = await relay.gateway.post("/v1/audio/speech", asked, relay.key);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("instructions must not be longer");
  });
});

describe("the model that an answer names", () => {
  it.each([false, true])("is marked in the row when it is another one, stream %s", async (stream) => {
    await relay.gateway.channel("gpt-4o");
    const head = { id: "c", created: 1, model: "gpt-5-pro-2025-10-06" };
    relay.gateway.upstream.script("/chat/completions", () => {
      const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
      const message = { role: "assistant", content: "hi" };
      if (!stream)
        return {
          body: { ...head, object: "chat.completion", choices: [{ index: 0, message, finish_reason: "stop" }], usage },
        };
      const chunk = { ...head, object: "chat.completion.chunk" };
      const events = [
        { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] },
        { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage },
      ].map((event) => `data: ${JSON.stringify(event)}\n\n`);
      return { headers: { "content-type": "text/event-stream" }, body: `${events.join("")}data: [DONE]\n\n` };
    });
    const response = await relay.gateway.post("/v1/chat/completions", chat("gpt-4o", { stream }), relay.key);
    await response.text();
    await relay.gateway.settled();
    const [row] = await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "");
    expect(row?.other).toMatchObject({
      model_differs: true,
      admin_info: { answered_model: "gpt-5-pro-2025-10-06" },
    });
  });

  it("is not marked for a snapshot of the same model", async () => {
    await relay.gateway.channel("gpt-4o");
    const response = await relay.ask("gpt-4o");
    await response.text();
    await relay.gateway.settled();
    const [row] = await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "");
    expect(row?.other).not.toHaveProperty("model_differs");
  });
});
