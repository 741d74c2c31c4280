import { describe, expect, it } from "vitest";
import { chat, consumeRows, readError, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();

describe("blocked words (10.1)", () => {
  it.each([
    ["/v1/chat/completions", { messages: [{ role: "system", content: "A Forbidden word" }] }],
    ["/v1/chat/completions", { messages: [{ role: "user", content: [{ type: "text", text: "forbidden" }] }] }],
    ["/v1/chat/completions", { messages: [{ role: "tool", tool_call_id: "x", content: "unFORBIDDENed" }] }],
    ["/v1/completions", { prompt: "forbidden" }],
    ["/v1/responses", { input: "x", instructions: "forbidden" }],
    ["/v1/embeddings", { input: ["fine", "forbidden"] }],
    ["/v1/moderations", { input: "forbidden" }],
    ["/v1/rerank", { query: "x", documents: ["fine", "forbidden"] }],
    ["/v1/images/generations", { prompt: "forbidden" }],
    ["/v1/audio/speech", { input: "forbidden", voice: "alloy" }],
    ["/v1/messages", { max_tokens: 5, messages: [{ role: "user", content: "forbidden" }] }],
    ["/v1beta/models/words:generateContent", { contents: [{ parts: [{ text: "forbidden" }] }] }],
  ])("are refused on %s", async (path, body) => {
    await relay.gateway.option("SensitiveWords", "forbidden\nother");
    await relay.gateway.channel("words");
    const answer = await relay.gateway.post(path, { model: "words", ...body }, relay.key);
    const text = await answer.text();
    expect([answer.status, relay.gateway.upstream.requests.length]).toEqual([400, 0]);
    expect(text).toContain("refused by the content policy");
    expect(text.toLowerCase()).not.toContain("forbidden");
  });

  it("are allowed in schemas, and when the check is off", async () => {
    await relay.gateway.channel("words");
    const tools = [{ type: "function", function: { name: "forbidden", parameters: {} } }];
    expect((await relay.ask("words", { tools })).status).toBe(200);
    await relay.gateway.option("CheckSensitiveOnPromptEnabled", false);
    const spoken = chat("words", { messages: [{ role: "user", content: "forbidden" }] });
    expect((await relay.gateway.post("/v1/chat/completions", spoken, relay.key)).status).toBe(200);
    await relay.gateway.option("CheckSensitiveOnPromptEnabled", true);
    const refused = await relay.gateway.post("/v1/chat/completions", spoken, relay.key);
    expect((await readError(refused)).code).toBe("sensitive_words_detected");
  });
});

describe("count_tokens", () => {
  const contents = [{ role: "user", parts: [{ text: "How many tokens is this?" }] }];
  const messages = [{ role: "user", content: "How many tokens is this?" }];

  it("is sent to channels that support it, and is free", async () => {
    await relay.gateway.channel("claude-native+usage-33-0", { type: 14 });
    const answer = await relay.gateway.post(
      "/v1/messages/count_tokens",
      { model: "claude-native+usage-33-0", messages },
      relay.key,
    );
    expect([answer.status, await answer.json()]).toEqual([200, { input_tokens: 33 }]);
    expect(answer.headers.get("x-fairway-estimated")).toBeNull();
    await relay.gateway.channel("gemini-native+usage-44-0", { type: 24 });
    const google = await relay.gateway.post(
      "/v1beta/models/gemini-native+usage-44-0:countTokens",
      { contents },
      relay.key,
    );
    expect([google.status, await google.json()]).toEqual([200, { totalTokens: 44 }]);
    await relay.gateway.settled();
    const logged = (await consumeRows(relay.gateway)).filter(({ model_name }) => /native/.test(model_name));
    expect(logged).toEqual([]);
  });

  it("is counted by the gateway where no upstream can, with a header that says so", async () => {
    await relay.gateway.channel("counted-here");
    const answer = await relay.gateway.post(
      "/v1/messages/count_tokens",
      { model: "counted-here", messages },
      relay.key,
    );
    expect([answer.status, answer.headers.get("x-fairway-estimated")]).toEqual([200, "true"]);
    expect(((await answer.json()) as { input_tokens: number }).input_tokens).toBeGreaterThan(4);
    const google = await relay.gateway.post("/v1beta/models/counted-here:countTokens", { contents }, relay.key);
    expect([google.status, google.headers.get("x-fairway-estimated")]).toEqual([200, "true"]);
    expect(((await google.json()) as { totalTokens: number }).totalTokens).toBeGreaterThan(4);
    expect(relay.gateway.upstream.requests.map(({ path }) => path)).toEqual([
      "/tokenize",
      "/v1/responses/input_tokens",
    ]);
    const unknown = await relay.gateway.post(
      "/v1/messages/count_tokens",
      { model: "never-heard-of", messages },
      relay.key,
    );
    expect(unknown.status).toBe(404);
  });
});
