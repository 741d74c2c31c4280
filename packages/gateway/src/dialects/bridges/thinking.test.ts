import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import type { JsonObject } from "../core/types.ts";

const hi = { role: "user", content: "hi" };

describe("thinking with its signature", () => {
  const block = { type: "thinking", thinking: "hm", signature: "c2ln+/=" };
  const message = {
    id: "msg_1",
    model: "claude",
    content: [block, { type: "tool_use", id: "t1", name: "f", input: {} }],
    stop_reason: "tool_use",
  };
  const sent = (body: JsonObject) => (body["messages"] as JsonObject[]).map((entry) => entry["content"]);
  const asAnthropic = [[block, { type: "tool_use", id: "t1", name: "f", input: {} }]];

  it("comes back from chat clients that echo it next to tool calls", () => {
    const chat = run("openai-chat", "anthropic-messages", "claude-haiku-4-5");
    const answer = chat.answer(message);
    const echoed = (answer["choices"] as JsonObject[])[0]?.["message"] as JsonObject;
    expect(echoed["thinking_blocks"]).toEqual([block]);
    const back = chat.request({
      messages: [hi, echoed, { role: "tool", tool_call_id: "t1", content: "ok" }],
      reasoning_effort: "low",
    });
    expect(sent(back).slice(1, 2)).toEqual(asAnthropic);
    expect(back["thinking"]).toEqual({ type: "enabled", budget_tokens: 1280 });
  });

  it("streams to chat clients before the call that it belongs to", () => {
    const events = [
      { type: "message_start", message: { id: "msg_1", model: "claude" } },
      { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "hm" } },
      { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "c2ln+/=" } },
      { type: "content_block_stop", index: 0 },
      { type: "content_block_start", index: 1, content_block: { type: "tool_use", id: "t1", name: "f", input: {} } },
      { type: "content_block_stop", index: 1 },
      { type: "message_delta", delta: { stop_reason: "tool_use" } },
    ];
    const deltas = run("openai-chat", "anthropic-messages", "claude")
      .stream(events)
      .map((chunk) => (chunk["choices"] as JsonObject[])[0]?.["delta"]);
    expect(deltas).toEqual([
      { role: "assistant", content: "" },
      { reasoning_content: "hm" },
      { thinking_blocks: [block] },
      { tool_calls: [{ index: 0, id: "t1", type: "function", function: { name: "f", arguments: "" } }] },
      { tool_calls: [{ index: 0, function: { arguments: "{}" } }] },
      {},
    ]);
  });

  it("comes back from Gemini clients as the signature of a thought", () => {
    const gemini = run("gemini-generate", "anthropic-messages", "claude-haiku-4-5");
    const [candidate] = gemini.answer(message)["candidates"] as { content: JsonObject }[];
    expect(candidate?.content["parts"]).toMatchObject([
      { text: "hm", thought: true, thoughtSignature: "c2ln+/=" },
      { functionCall: { id: "t1", name: "f" } },
    ]);
    expect(sent(gemini.request({ contents: [candidate?.content ?? {}] }))).toEqual(asAnthropic);
  });

  it("comes back from Gemini clients that keep one content per event", () => {
    const gemini = run("gemini-generate", "anthropic-messages", "claude-haiku-4-5");
    const model = (part: JsonObject) => ({ role: "model", parts: [part] });
    const contents = [
      model({ text: "h", thought: true }),
      model({ text: "m", thought: true }),
      model({ text: "", thought: true, thoughtSignature: "c2ln+/=" }),
      model({ functionCall: { id: "t1", name: "f", args: {} } }),
    ];
    expect(sent(gemini.request({ contents }))).toEqual(asAnthropic);
  });

  it("comes back from Responses clients inside of an opaque reasoning item", () => {
    const responses = run("openai-responses", "anthropic-messages", "claude-haiku-4-5");
    const { output } = responses.answer(message);
    expect(sent(responses.request({ input: output }))).toEqual(asAnthropic);
  });

  describe("of a call of Gemini", () => {
    const thoughtSignature = Buffer.alloc(1_500, "sign").toString("base64");
    const thought = { text: "hm", thought: true };
    const parts = [
      { functionCall: { name: "f", args: {} }, thoughtSignature },
      { functionCall: { name: "g", args: {} } },
    ];
    const answer = { candidates: [{ content: { role: "model", parts: [thought, ...parts] }, finishReason: "STOP" }] };
    const clients = ["openai-chat", "anthropic-messages", "openai-responses"] as const;
    const histories: Readonly<Record<(typeof clients)[number], (body: JsonObject) => JsonObject>> = {
      "openai-chat": ({ choices }) => ({ messages: [hi, (choices as { message: JsonObject }[])[0]?.message ?? {}] }),
      "anthropic-messages": ({ content }) => ({ max_tokens: 1, messages: [hi, { role: "assistant", content }] }),
      "openai-responses": ({ output }) => ({ input: [hi, ...(output as JsonObject[])] }),
    };

    it.each(clients)("comes back from clients of %s, and their ids stay short", (client) => {
      const bridge = run(client, "gemini-generate", "gemini-3.8-flash");
      const said = bridge.answer(answer);
      for (const text of [JSON.stringify(said), JSON.stringify(bridge.stream([answer]))]) {
        const ids = [...text.matchAll(/"(?:id|call_id)":"([^"]*)"/g)].map(([, id]) => id ?? "");
        expect(ids.filter((id) => id.length > 64)).toEqual([]);
        expect(text).toContain("hm");
      }
      const back = bridge.request(histories[client](said));
      expect((back["contents"] as JsonObject[])[1]).toEqual({ role: "model", parts });
    });

    it.each(clients)("is nothing that another vendor gets from clients of %s", (client) => {
      const said = run(client, "gemini-generate", "gemini-3.8-flash").answer(answer);
      for (const upstream of ["openai-chat", "anthropic-messages", "openai-responses"] as const) {
        if (upstream === client) continue;
        const sent = run(client, upstream, "gpt-4.1").request(histories[client](said));
        expect(JSON.stringify(sent)).not.toMatch(/thought_signature|signature|encrypted_content":"/);
      }
    });

    it.each(["anthropic-messages", "openai-responses"] as const)(
      "comes back to Google's chat endpoint from clients of %s, and their ids stay short",
      (client) => {
        const extra_content = { google: { thought_signature: thoughtSignature } };
        const call = { id: "c1", type: "function", function: { name: "f", arguments: "{}" }, extra_content };
        const message = { role: "assistant", content: null, reasoning_content: "hm", tool_calls: [call] };
        const bridge = run(client, "openai-chat", "gemini-3.8-flash");
        const said = bridge.answer({ id: "1", choices: [{ index: 0, message, finish_reason: "tool_calls" }] });
        expect(JSON.stringify(said)).toMatch(/"(?:id|call_id)":"c1"/);
        const delta = { role: "assistant", reasoning_content: "hm" };
        const chunks = [delta, { tool_calls: [{ index: 0, ...call }] }].map((piece) => ({
          id: "1",
          choices: [{ index: 0, delta: piece, finish_reason: null }],
        }));
        expect(JSON.stringify(bridge.stream(chunks))).toMatch(/"(?:id|call_id)":"c1"/);
        expect(JSON.stringify(said)).toContain("hm");
        const [, turn] = bridge.request(histories[client](said))["messages"] as JsonObject[];
        expect(turn).toMatchObject({ tool_calls: [{ id: "c1", extra_content }] });
      },
    );

    it("streams to Anthropic clients as the signature of the thinking that led to it", () => {
      const events = run("anthropic-messages", "gemini-generate", "gemini-3.8-flash").stream([answer]);
      const kinds = events.map(({ type, delta }) => (delta as JsonObject | undefined)?.["type"] ?? type);
      expect(kinds.slice(0, 6)).toEqual([
        "message_start",
        "content_block_start",
        "thinking_delta",
        "signature_delta",
        "content_block_stop",
        "content_block_start",
      ]);
    });
  });

  it("is replaced by Google's own value where a history has none", () => {
    const calls = {
      role: "assistant",
      content: null,
      tool_calls: [
        { id: "1", function: { name: "f", arguments: "{}" } },
        { id: "2", function: { name: "g", arguments: "" } },
      ],
    };
    const parts = (model: string) =>
      (
        run("openai-chat", "gemini-generate", model).request({ messages: [hi, calls] })["contents"] as JsonObject[]
      )[1]?.["parts"];
    expect(parts("gemini-3-pro")).toMatchObject([
      { thoughtSignature: "skip_thought_signature_validator" },
      { functionCall: { name: "g", args: {} } },
    ]);
    expect(JSON.stringify(parts("gemini-2.5-pro"))).not.toContain("thoughtSignature");
  });

  it("is not asked of a model that could not continue a tool loop without it", () => {
    const chat = run("openai-chat", "anthropic-messages", "claude-haiku-4-5");
    const call = {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "t", function: { name: "f", arguments: "{}" } }],
    };
    const body = chat.request({
      messages: [hi, call, { role: "tool", tool_call_id: "t", content: "x" }],
      reasoning_effort: "high",
    });
    expect(body["thinking"]).toBeUndefined();
    expect(chat.dropped).toEqual(["reasoning_effort"]);
  });
});
