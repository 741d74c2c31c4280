import { describe, expect, it } from "vitest";
import { useRelay } from "../kit/relay-app.ts";
import { CHAT_ANSWER, exchange, HELLO } from "./exchange-cases.ts";

describe("servers that copy an older OpenAI protocol", () => {
  it.each([
    ["DeepSeek", 43, "https://api.deepseek.com/v1/chat/completions", "deepseek-chat"],
    ["Moonshot", 25, "https://api.moonshot.cn/v1/chat/completions", "moonshot-v1-8k"],
  ])("%s gets the output limit under the name that it supports", async (_, type, url, model) => {
    await exchange({
      type,
      body: { model, messages: HELLO, max_completion_tokens: 7 },
      sent: { url, body: { model, messages: HELLO, max_tokens: 7 } },
      answer: { body: CHAT_ANSWER },
    });
  });
});

describe("an idempotency key", () => {
  const relay = useRelay();

  it("reaches the upstream as the user's own", async () => {
    await relay.gateway.channel("plain");
    const body = { model: "plain", messages: [{ role: "user", content: "hi" }] };
    const headers = {
      authorization: `Bearer ${relay.key}`,
      "content-type": "application/json",
      "idempotency-key": "order-17",
    };
    const response = await relay.gateway.post("/v1/chat/completions", body, relay.key, { headers });
    expect(response.status).toBe(200);
    expect(relay.gateway.upstream.requests.at(-1)?.headers["idempotency-key"]).toMatch(/^[0-9a-f]{40}$/);
  });
});
