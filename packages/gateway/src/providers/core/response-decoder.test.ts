import { describe, expect, it } from "vitest";
import { createBridgeContext, createRequestSpec, createChannelRecord } from "../../../test/kit/provider-kit.ts";
import { azure } from "../vendors/azure/azure.ts";
import { createResponseDecoder } from "./response-decoder.ts";
import { ollama } from "../vendors/ollama/ollama.ts";
import { openai } from "../vendors/openai/openai.ts";
import type { Bridge } from "../../dialects/core/bridge.ts";
import type { ProviderAdapter } from "./types.ts";

function createIntake(provider: ProviderAdapter, bridges: readonly Bridge[] = []) {
  const [route] = provider.speaks;
  if (!route) throw new Error("no route");
  const context = createBridgeContext({ spec: createRequestSpec({ stream: true }) });
  const conversions = bridges.map((bridge) => bridge.begin(context));
  const channel = createChannelRecord();
  const parts = { provider, route, bridges, conversions, context, channel, headers: {}, maxEventBytes: 1024 };
  return createResponseDecoder(parts);
}

describe("intake", () => {
  it("passes the very bytes that need no repair", () => {
    const chunk = Buffer.from('data: {"choices":[{"delta":{"content":"a"}}],"usage":null}\n\n');
    expect(createIntake(openai).feed(chunk)).toBe(chunk);
  });

  it("repairs only the event that shows a mark", () => {
    const plain = 'data: {"choices": [{"delta": {"content": "a"}}]}\n\n';
    const marked = 'data: {"choices":[{"delta":{"reasoning":"b"}}]}\n\n';
    const out = createIntake(openai).feed(Buffer.from(plain + marked));
    expect(out?.toString()).toBe(`${plain}data: {"choices":[{"delta":{"reasoning_content":"b"}}]}\n\n`);
  });

  it("swallows events and keeps what was cut for later", () => {
    const decoder = createIntake(azure);
    const first = 'data: {"choices":[],"prompt_filter_results":[]}\n\n';
    const second = 'data: {"choices":[{"delta":{}}]}\n\n';
    expect(decoder.feed(Buffer.from(first + second.slice(0, 9)))).toBeUndefined();
    expect(decoder.feed(Buffer.from(second.slice(9)))?.toString()).toBe(second);
    expect(decoder.rest()).toBeUndefined();
  });

  it("moves usage that no one asked for to a chunk of its own", () => {
    const chunk = 'data: {"id":"x","choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"total_tokens":2}}\n\n';
    const [finish, usage] = (createIntake(openai).feed(Buffer.from(chunk))?.toString() ?? "").trim().split("\n\n");
    expect(finish).toBe('data: {"id":"x","choices":[{"delta":{},"finish_reason":"stop"}]}');
    expect(usage).toBe('data: {"id":"x","choices":[],"usage":{"total_tokens":2}}');
  });

  it("turns private streams into the client side of their bridge, however they are cut", () => {
    const lines = [
      { model: "m", message: { content: "Grüße" }, done: false },
      { model: "m", message: { content: "" }, done: true, done_reason: "stop", prompt_eval_count: 2, eval_count: 1 },
    ];
    const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    for (const size of [1, 5, bytes.length]) {
      const decoder = createIntake(ollama, (ollama.bridges ?? []).slice(0, 1));
      expect(decoder.dialect).toBe("openai-chat");
      expect(decoder.conversions).toEqual([]);
      let out = "";
      for (let at = 0; at < bytes.length; at += size)
        out += decoder.feed(bytes.subarray(at, at + size))?.toString() ?? "";
      out += decoder.rest()?.toString() ?? "";
      expect(out).toContain('"content":"Grüße"');
      expect(out.trim().split("\n\n").at(-1)).toBe("data: [DONE]");
    }
  });

  it("refuses events and lines past the limit", () => {
    const long = Buffer.from(`data: ${"x".repeat(2000)}`);
    expect(() => createIntake(openai).feed(long)).toThrow("1024");
    expect(() => createIntake(ollama, (ollama.bridges ?? []).slice(0, 1)).feed(long)).toThrow("1024");
  });

  it("finds failures of status 200 and leaves answers alone", () => {
    const decoder = createIntake(openai);
    expect(decoder.refusal(Buffer.from('{"choices":[]}'))).toBeUndefined();
    expect(decoder.refusal(Buffer.from('{"error":{"message":"slow","code":"rate_limit_exceeded"}}'))).toMatchObject({
      class: "rate_limit",
      status: 429,
    });
    const answer = { choices: [] };
    expect(decoder.answer(answer)).toBe(answer);
  });
});
