import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import type { JsonObject } from "../core/types.ts";

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

describe("usage of Gemini clients", () => {
  const choice = { index: 0, message: { content: "hi" }, delta: { content: "hi" }, finish_reason: "stop" };
  const counts = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
  const usages = (usage: JsonObject) => {
    const chat = run("gemini-generate", "openai-chat", "gpt-4o-audio-preview");
    const events = chat.stream([{ choices: [choice] }, { choices: [], usage }]);
    return [chat.answer({ choices: [choice], usage })["usageMetadata"], events.at(-1)?.["usageMetadata"]];
  };

  it("names the modalities that the upstream tells apart, and none where it does not", () => {
    const reported = {
      promptTokenCount: 100,
      candidatesTokenCount: 20,
      totalTokenCount: 120,
      cachedContentTokenCount: 30,
      promptTokensDetails: [
        { modality: "TEXT", tokenCount: 50 },
        { modality: "IMAGE", tokenCount: 40 },
        { modality: "AUDIO", tokenCount: 10 },
      ],
      cacheTokensDetails: [{ modality: "IMAGE", tokenCount: 30 }],
      candidatesTokensDetails: [{ modality: "AUDIO", tokenCount: 15 }],
    };
    const prompt_tokens_details = {
      cached_tokens: 30,
      cached_tokens_details: { image_tokens: 30 },
      text_tokens: 50,
      image_tokens: 40,
      audio_tokens: 10,
    };
    const completion_tokens_details = { reasoning_tokens: 0, audio_tokens: 15 };
    expect(usages({ ...counts, prompt_tokens_details, completion_tokens_details })).toEqual([reported, reported]);
    const plain = { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 };
    expect(usages({ ...counts, prompt_tokens_details: { audio_tokens: 0 } })).toEqual([plain, plain]);
  });

  it("keeps pictures over chat in the middle", () => {
    const usage = { input_tokens: 100, output_tokens: 20, input_tokens_details: { image_tokens: 40 } };
    const answer = run("gemini-generate", "openai-responses", "gpt-5.2").answer({
      status: "completed",
      output: [],
      usage,
    });
    expect(answer).toMatchObject({ usageMetadata: { promptTokensDetails: [{ modality: "IMAGE", tokenCount: 40 }] } });
  });
});

describe("Gemini", () => {
  const chunk = (candidate: JsonObject) => ({
    responseId: "r",
    modelVersion: "gemini-2.5-flash",
    candidates: [candidate],
  });
  const said = (text: string) => ({ role: "model", parts: [{ text }] });

  it("may name a finish in every event: it is sent once, at the end", () => {
    const events = run("openai-chat", "gemini-generate", "gemini-1.5-flash").stream([
      chunk({ content: said("a"), finishReason: "STOP", index: 0 }),
      chunk({ content: said("b"), finishReason: "STOP", index: 0 }),
      chunk({ content: { parts: [{ functionCall: { name: "f", args: {} } }] }, finishReason: "STOP", index: 0 }),
    ]);
    const choices = events.flatMap((event) => event["choices"] as JsonObject[]);
    expect(choices.map((choice) => choice["finish_reason"])).toEqual([null, null, null, null, "tool_calls"]);
  });

  it("and chat exchange the probabilities of tokens", () => {
    const token = { token: "hi", logProbability: -0.5 };
    const logprobsResult = { chosenCandidates: [token], topCandidates: [{ candidates: [token] }] };
    const answer = run("openai-chat", "gemini-generate", "gemini-2.5-flash").answer(
      chunk({ content: said("hi"), finishReason: "STOP", logprobsResult }),
    );
    const reported = { token: "hi", logprob: -0.5, bytes: [104, 105] };
    const content = [{ ...reported, top_logprobs: [reported] }];
    expect(answer["choices"]).toMatchObject([{ logprobs: { content } }]);
    const choice = { index: 0, message: { content: "hi" }, logprobs: { content }, finish_reason: "stop" };
    const back = run("gemini-generate", "openai-chat", "gpt-4.1").answer({ choices: [choice] });
    expect(back["candidates"]).toMatchObject([{ logprobsResult }]);
    const pieces = run("gemini-generate", "openai-chat", "gpt-4.1").stream([
      { choices: [{ index: 0, delta: { content: "hi" }, logprobs: { content }, finish_reason: null }] },
    ]);
    expect(pieces[0]?.["candidates"]).toMatchObject([{ logprobsResult }]);
  });

  it("signs in letters of its own when its client is Python", () => {
    const thought = { text: "t", thought: true, thoughtSignature: "a-b_cA==" };
    const contents = [
      { role: "user", parts: [{ text: "hi" }] },
      { role: "model", parts: [thought, { functionCall: { id: "c", name: "f", args: {} } }] },
      { role: "user", parts: [{ functionResponse: { id: "c", name: "f", response: { output: "1" } } }] },
    ];
    const body = run("gemini-generate", "anthropic-messages", "claude-haiku-4-5").request({ contents });
    expect(body["messages"]).toMatchObject([{}, { content: [{ type: "thinking", signature: "a+b/cA==" }, {}] }, {}]);
  });
});

it("thinking that comes with words comes before them", () => {
  const delta = { reasoning_content: "Hm.", content: "Sunny." };
  const events = run("gemini-generate", "openai-chat", "m").stream([
    { choices: [{ index: 0, delta, finish_reason: "stop" }] },
  ]);
  expect(events[0]).toMatchObject({
    candidates: [{ content: { parts: [{ text: "Hm.", thought: true }, { text: "Sunny." }] } }],
  });
});
