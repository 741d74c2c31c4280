import { describe, expect, it } from "vitest";
import { run } from "../../../test/bridge-run.ts";
import type { JsonObject } from "../types.ts";

describe("Gemini clients", () => {
  const gemini = () => run("gemini-generate", "openai-chat", "gpt-4.1");
  const chunk = (delta: JsonObject, finish: string | null = null) => ({
    choices: [{ index: 0, delta, finish_reason: finish }],
  });

  it("see a refusal in words as a finish of its own", () => {
    const choice = { index: 0, message: { role: "assistant", content: null, refusal: "no" }, finish_reason: "stop" };
    const refused = { content: { parts: [{ text: "no" }] }, finishReason: "SAFETY" };
    expect(gemini().answer({ choices: [choice] })["candidates"]).toMatchObject([refused]);
    const events = gemini().stream([chunk({ refusal: "no" }), chunk({}, "stop")]);
    expect(events.at(-1)?.["candidates"]).toMatchObject([{ finishReason: "SAFETY" }]);
  });

  it("never get an event without parts, which makes the official one forget the turn", () => {
    const events = gemini().stream([
      chunk({ role: "assistant", content: "" }),
      chunk({ content: "hi" }),
      chunk({}, "stop"),
    ]);
    expect(events.map((event) => event["candidates"])).toMatchObject([
      [{ content: { parts: [{ text: "hi" }] } }],
      [{ content: { parts: [{ text: "" }] }, finishReason: "STOP" }],
    ]);
  });

  it("get the signature of streamed thinking on a part with text, where every client reads it", () => {
    const delta = (index: number, piece: JsonObject) => ({ type: "content_block_delta", index, delta: piece });
    const events = run("gemini-generate", "anthropic-messages", "claude-haiku-4-5").stream([
      { type: "message_start", message: { id: "msg_1", model: "claude" } },
      { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
      delta(0, { type: "thinking_delta", thinking: "let me" }),
      delta(0, { type: "thinking_delta", thinking: " think" }),
      delta(0, { type: "signature_delta", signature: "c2ln" }),
      { type: "content_block_stop", index: 0 },
      { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
      delta(1, { type: "text_delta", text: "hi" }),
      { type: "message_delta", delta: { stop_reason: "end_turn" } },
    ]);
    const parts = events.flatMap((event) => event["candidates"] as { content: { parts: JsonObject[] } }[]);
    expect(parts.map(({ content }) => content.parts)).toEqual([
      [{ text: "let me", thought: true }],
      [{ text: " think", thought: true, thoughtSignature: "c2ln" }],
      [{ text: "hi" }],
      [{ text: "" }],
    ]);
  });

  it("may wrap the result of a tool in any of the clients' ways", () => {
    const results = [{ output: "21" }, { result: "21" }, { name: "f", content: "21" }].map((response) => {
      const call = { role: "model", parts: [{ functionCall: { name: "f", args: {} } }] };
      const contents = [call, { role: "user", parts: [{ functionResponse: { name: "f", response } }] }];
      return (gemini().request({ contents })["messages"] as JsonObject[]).at(-1)?.["content"];
    });
    expect(results).toEqual(["21", "21", "21"]);
  });
});
