import { describe, expect, it } from "vitest";
import { books, chat, consumeRows, splitEvents, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();

describe("streams", () => {
  it("requests usage, hides it from the client and bills it", async () => {
    await relay.gateway.channel("quiet");
    const response = await relay.ask("quiet", { stream: true });
    const text = await response.text();
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(relay.gateway.upstream.requests[0]?.json?.["stream_options"]).toEqual({ include_usage: true });
    expect(text).not.toContain('"prompt_tokens"');
    expect(splitEvents(text).at(-1)).toBe("data: [DONE]");
    const [row] = await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "");
    expect(row).toMatchObject({
      prompt_tokens: 20,
      completion_tokens: 10,
      is_stream: 1,
      other: { usage_source: "upstream", end_reason: "stop" },
    });
    expect(row?.other["frt"]).toBeGreaterThanOrEqual(0);
  });

  it("bills usage once that is in a choice and again in the last chunk", async () => {
    await relay.gateway.channel("in-choice");
    const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
    const chunk = { id: "1", object: "chat.completion.chunk", model: "in-choice", created: 1 };
    const chunks = [
      { ...chunk, choices: [{ index: 0, delta: { role: "assistant", content: "Hi" }, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "stop", usage }] },
      { ...chunk, choices: [], usage },
    ];
    relay.gateway.upstream.script("/chat/completions", () => ({
      headers: { "content-type": "text/event-stream" },
      body: [...chunks.map((data) => JSON.stringify(data)), "[DONE]"].map((data) => `data: ${data}\n\n`).join(""),
    }));
    const response = await relay.ask("in-choice", { stream: true });
    await response.text();
    const [row] = await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "");
    expect(row).toMatchObject({ prompt_tokens: 7, completion_tokens: 3, other: { usage_source: "upstream" } });
  });

  it("shows usage once to a client that requested it", async () => {
    await relay.gateway.channel("loud");
    const text = await (await relay.ask("loud", { stream: true, stream_options: { include_usage: true } })).text();
    expect(splitEvents(text).filter((block) => block.includes('"usage":{'))).toHaveLength(1);
    expect(splitEvents(text).at(-1)).toBe("data: [DONE]");
  });

  it("counts output without reported usage, and creates the requested usage event", async () => {
    await relay.gateway.channel("no-usage");
    const response = await relay.ask("no-usage", { stream: true, stream_options: { include_usage: true } });
    const blocks = splitEvents(await response.text());
    const usage = JSON.parse((blocks.at(-2) ?? "").slice("data: ".length)) as {
      choices: unknown[];
      usage: { prompt_tokens: number; completion_tokens: number };
    };
    expect(usage.choices).toEqual([]);
    expect(usage.usage.prompt_tokens).toBe(8);
    const [row] = await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "");
    expect(row).toMatchObject({
      prompt_tokens: 8,
      completion_tokens: usage.usage.completion_tokens,
      other: { usage_source: "counted" },
    });
    expect(row?.completion_tokens).toBeGreaterThan(3);
  });

  it.each(["crlf", "split-7", "comments", "big-line", "multibyte", "multibyte+split-1", "json-for-stream"])(
    "%s reaches the client whole and legal",
    async (model) => {
      await relay.gateway.channel(model);
      const text = await (await relay.ask(model, { stream: true })).text();
      expect(text).not.toContain("\r");
      expect(text.split("\n").filter((line) => line.startsWith(":"))).toEqual([]);
      const blocks = splitEvents(text);
      expect(blocks.at(-1)).toBe("data: [DONE]");
      for (const block of blocks.slice(0, -1))
        expect(() => JSON.parse(block.slice("data: ".length)) as unknown).not.toThrow();
    },
  );

  it.each(["text/plain; charset=utf-8", "application/octet-stream"])(
    "reads a stream that is called %s",
    async (type) => {
      await relay.gateway.channel("misnamed");
      const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
      const said = { ...chunk, choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop" }] };
      relay.gateway.upstream.script("/chat/completions", () => ({
        headers: { "content-type": type },
        body: `data: ${JSON.stringify(said)}\n\ndata: [DONE]\n\n`,
      }));
      const blocks = splitEvents(await (await relay.ask("misnamed", { stream: true })).text());
      expect(blocks).toEqual([`data: ${JSON.stringify(said)}`, "data: [DONE]"]);
    },
  );

  it("tries another channel when a stream ends without content", async () => {
    await relay.gateway.option("RetryTimes", 1);
    await relay.gateway.channel("speechless", { priority: 5 });
    await relay.gateway.channel("speechless");
    let asked = 0;
    relay.gateway.upstream.script("/chat/completions", () => {
      const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
      const said = { ...chunk, choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop" }] };
      const first = asked++ === 0 ? "" : `data: ${JSON.stringify(said)}\n\n`;
      return { headers: { "content-type": "text/event-stream" }, body: `${first}data: [DONE]\n\n` };
    });
    const response = await relay.ask("speechless", { stream: true });
    expect(splitEvents(await response.text())).toHaveLength(2);
    expect(asked).toBe(2);
    await relay.gateway.option("RetryTimes", 0);
  });

  it("charges a bounded count where the upstream's usage is impossible", async () => {
    await relay.gateway.channel("boaster");
    const usage = { prompt_tokens: Number.MAX_SAFE_INTEGER, completion_tokens: Number.MAX_SAFE_INTEGER };
    const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m", usage };
    const said = { ...chunk, choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop" }] };
    relay.gateway.upstream.script("/chat/completions", () => ({
      headers: { "content-type": "text/event-stream" },
      body: `data: ${JSON.stringify(said)}\n\ndata: [DONE]\n\n`,
    }));
    const response = await relay.ask("boaster", { stream: true });
    expect(splitEvents(await response.text()).at(-1)).toBe("data: [DONE]");
    await relay.gateway.settled();
    const [row] = (await consumeRows(relay.gateway)).filter(({ model_name }) => model_name === "boaster");
    expect(row).toMatchObject({ prompt_tokens: 262_144, completion_tokens: 32_768, other: { usage_bounded: true } });
  });

  it("adds up a stream that the client did not request", async () => {
    await relay.gateway.channel("sse-for-plain");
    const response = await relay.ask("sse-for-plain");
    expect(response.headers.get("content-type")).toContain("application/json");
    const body = (await response.json()) as { choices: [{ message: { content: string }; finish_reason: string }] };
    expect(body.choices[0].message.content).toBe("Hello from the fake upstream.");
    expect(body.choices[0].finish_reason).toBe("stop");
  });

  it.each(["cut-after-3", "reset-after-3", "hang-after-3", "slow-20+error-after-3"])(
    "%s ends with an error event and no [DONE], and bills what was delivered (6.6)",
    async (model) => {
      await relay.gateway.channel(model);
      const response = await relay.ask(model, { stream: true });
      const blocks = splitEvents(await response.text());
      expect(response.status).toBe(200);
      expect(blocks.some((block) => block.includes("[DONE]"))).toBe(false);
      const last = JSON.parse((blocks.at(-1) ?? "").slice("data: ".length)) as {
        error: { message: string; type: string };
      };
      expect(last.error.message).toBeTruthy();
      const [row] = await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "");
      expect(row?.other["end_reason"]).not.toBe("stop");
      expect(row?.completion_tokens).toBeGreaterThan(0);
    },
  );

  it("stops the upstream at once when the client leaves, and bills what was delivered", async () => {
    await relay.gateway.channel("slow-50+long-200");
    const leave = new AbortController();
    const response = await relay.gateway.post(
      "/v1/chat/completions",
      chat("slow-50+long-200", { stream: true }),
      relay.key,
      {
        headers: { authorization: `Bearer ${relay.key}`, "content-type": "application/json" },
        signal: leave.signal,
      },
    );
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.read();
    const leftAt = performance.now();
    leave.abort();
    const [seen] = relay.gateway.upstream.requests;
    expect(await seen?.ended).toBe("left");
    // Ten seconds of the stream were still to come.
    expect((seen?.leftAt ?? Infinity) - leftAt).toBeLessThan(2_000);
    await relay.gateway.settled();
    const [row] = await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "");
    expect(row?.other["end_reason"]).toBe("client_abort");
    expect(row?.prompt_tokens).toBe(8);
    expect(row?.completion_tokens).toBeLessThan(40);
  });

  it.each([
    ["gives the reservation back", false],
    ["charges the prompt where the operator wants that", true],
  ])("%s when the client leaves before the upstream answers", async (_name, isCharged) => {
    await relay.gateway.option("BillAbortedPrompt", isCharged);
    await relay.gateway.channel("hang");
    const leave = new AbortController();
    const pending = relay.gateway
      .post("/v1/chat/completions", chat("hang"), relay.key, {
        headers: { authorization: `Bearer ${relay.key}` },
        signal: leave.signal,
      })
      .catch(() => undefined);
    await expect.poll(() => relay.gateway.upstream.requests.length).toBe(1);
    const before = await books(relay.gateway);
    leave.abort();
    await pending;
    expect(await relay.gateway.upstream.requests[0]?.ended).toBe("left");
    await relay.gateway.settled();
    const { quota } = await books(relay.gateway);
    await relay.gateway.option("BillAbortedPrompt", false);
    if (!isCharged) return expect(quota).toBe(before.quota);
    const row = (await consumeRows(relay.gateway)).at(-1);
    expect(row).toMatchObject({ prompt_tokens: 8, completion_tokens: 0, quota: before.quota - quota });
  });

  it("ends when the key's quota does, billed for what was delivered", async () => {
    await relay.gateway.channel("slow-1+long-9000");
    const poor = await relay.gateway.token({ unlimited_quota: false, remain_quota: 2_500 });
    const response = await relay.gateway.post("/v1/chat/completions", chat("slow-1+long-9000", { stream: true }), poor);
    const blocks = splitEvents(await response.text());
    expect(JSON.parse((blocks.at(-1) ?? "").slice("data: ".length))).toMatchObject({
      error: { code: "insufficient_quota" },
    });
    const [row] = await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "");
    expect(row?.other["end_reason"]).toBe("quota_exhausted");
    expect(row?.quota).toBeGreaterThan(1_000);
    expect(row?.quota).toBeLessThan(2_600);
  });

  it("passes 20,000 chunks without losing one", async () => {
    await relay.gateway.channel("long-20000");
    const text = await (await relay.ask("long-20000", { stream: true })).text();
    expect(splitEvents(text).length).toBeGreaterThan(20_000);
    expect(splitEvents(text).at(-1)).toBe("data: [DONE]");
  });
});
