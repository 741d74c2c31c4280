// How chat streams of unofficial servers end.
import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import type { DialectId, JsonObject } from "../core/types.ts";

const chunk = (delta: object, finish: string | null = null) => ({
  id: "1",
  model: "m",
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const call = { index: 0, id: "a", type: "function", function: { name: "f", arguments: "{}" } };
const streamed = (client: DialectId, ...chunks: object[]) => run(client, "openai-chat", "m").stream(chunks);
const findStopDelta = (events: JsonObject[]) =>
  events.findLast((event) => event["type"] === "message_delta")?.["delta"];

describe("Anthropic clients continue with their tools", () => {
  it.each(["", "eos_token", "tool_use", "stop"])("when an answer with calls ends as %j", (finish) => {
    const events = streamed("anthropic-messages", chunk({ tool_calls: [call] }, finish));
    expect(findStopDelta(events)).toMatchObject({ stop_reason: "tool_use" });
    const choices = [{ message: { content: "", tool_calls: [call] }, finish_reason: finish }];
    expect(run("anthropic-messages", "openai-chat", "m").answer({ choices })).toMatchObject({
      stop_reason: "tool_use",
    });
  });

  it("when it was not cut", () => {
    const events = streamed("anthropic-messages", chunk({ tool_calls: [call] }, "length"));
    expect(findStopDelta(events)).toMatchObject({ stop_reason: "max_tokens" });
  });
});

it("an empty reason after the real one does not undo it", () => {
  const chunks = [chunk({ content: "a" }, ""), chunk({}, "length"), chunk({ content: "" }, "")];
  expect(findStopDelta(streamed("anthropic-messages", ...chunks))).toMatchObject({ stop_reason: "max_tokens" });
  expect(streamed("openai-responses", ...chunks).at(-1)).toMatchObject({ type: "response.incomplete" });
  expect(streamed("gemini-generate", ...chunks).at(-1)).toMatchObject({ candidates: [{ finishReason: "MAX_TOKENS" }] });
});

it("Gemini clients receive an end that the upstream did not name", () => {
  const events = streamed("gemini-generate", chunk({ content: "a" }));
  expect(events.at(-1)).toMatchObject({ candidates: [{ index: 0, finishReason: "STOP" }] });
});

describe("a response that streams", () => {
  const content = [{ type: "output_text", text: "Sunny", annotations: [] }];
  const done = {
    type: "response.output_item.done",
    output_index: 0,
    item: { type: "message", role: "assistant", content },
  };
  const end = { type: "response.completed", response: { status: "completed" } };
  const streamText = (events: object[]) =>
    run("openai-chat", "openai-responses", "gpt-5-pro")
      .stream(events)
      .map((one) => (one["choices"] as { delta?: { content?: string } }[])[0]?.delta?.content ?? "")
      .join("");

  it("no deltas is sent when its message is done", () => {
    expect(streamText([done, end])).toBe("Sunny");
  });

  it("only an end is sent then, and earlier text is not repeated", () => {
    const message = { type: "message", role: "assistant", content };
    const whole = { type: "response.completed", response: { status: "completed", output: [message] } };
    const delta = { type: "response.output_text.delta", delta: "Sunny" };
    expect(streamText([whole])).toBe("Sunny");
    expect(streamText([done, whole])).toBe("Sunny");
    expect(streamText([{ ...delta, output_index: 0 }, whole])).toBe("Sunny");
    expect(streamText([delta, whole])).toBe("Sunny");
  });

  it("deltas is sent once", () => {
    const delta = { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "Sunny" };
    expect(streamText([delta, done, end])).toBe("Sunny");
    expect(streamText([delta, done, { ...done, output_index: 1 }, end])).toBe("SunnySunny");
  });

  it("may name its sources with an event or with the message, and they are sent once", () => {
    const delta = { type: "response.output_text.delta", delta: "Sunny" };
    const annotation = { type: "url_citation", start_index: 0, end_index: 5, url: "https://a.example", title: "A" };
    const cited = { ...done, item: { ...done.item, content: [{ ...content[0], annotations: [annotation] }] } };
    const named = { type: "response.output_text.annotation.added", annotation };
    for (const events of [
      [delta, cited, end],
      [delta, named, cited, end],
      [named, cited, end],
    ]) {
      const choices = run("openai-chat", "openai-responses", "gpt-5-pro")
        .stream(events)
        .flatMap((one) => one["choices"] as { delta: JsonObject }[]);
      const reported = choices.flatMap((choice) => choice.delta["annotations"] ?? []);
      expect(reported).toMatchObject([{ url_citation: { url: "https://a.example" } }]);
    }
  });
});

describe("usage in an event without a list of choices", () => {
  const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
  const chunks = [chunk({ content: "a" }), chunk({}, "stop")];

  it.each([{ usage }, { choices: null, usage }])("%j is reported", (last) => {
    const [anthropic, responses, gemini] = (["anthropic-messages", "openai-responses", "gemini-generate"] as const).map(
      (client) => streamed(client, ...chunks, last),
    );
    expect(anthropic?.at(-2)).toMatchObject({ usage: { input_tokens: 7, output_tokens: 3 } });
    expect(responses?.at(-1)).toMatchObject({ response: { usage: { input_tokens: 7, output_tokens: 3 } } });
    expect(gemini?.at(-1)).toMatchObject({ usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3 } });
  });
});

describe("an answer that failed at Gemini before it said anything is none", () => {
  const failed = (finishReason: string, ...parts: object[]) => ({
    candidates: [{ index: 0, content: { role: "model", parts }, finishReason }],
  });

  it.each(["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MISSING_THOUGHT_SIGNATURE"])("%s", (reason) => {
    const refusal = expect.objectContaining({ status: 502, code: reason.toLowerCase(), retryable: true }) as Error;
    for (const client of ["openai-chat", "anthropic-messages", "openai-responses"] as const) {
      const bridge = run(client, "gemini-generate", "gemini-3-flash");
      expect(() => bridge.answer(failed(reason))).toThrow(refusal);
      expect(() => bridge.answer(failed(reason, { text: "Hm.", thought: true }))).toThrow(refusal);
      expect(() => bridge.stream([failed(reason)])).toThrow(refusal);
    }
  });

  it("with words it ends where they end", () => {
    const chat = run("openai-chat", "gemini-generate", "gemini-3-flash");
    const said = failed("MALFORMED_FUNCTION_CALL", { text: "Let me see." });
    const choice = { message: { content: "Let me see." }, finish_reason: "stop" };
    expect(chat.answer(said)).toMatchObject({ choices: [choice] });
    const events = chat.stream([failed("STOP", { text: "Let me see." }), failed("MALFORMED_FUNCTION_CALL")]);
    expect(events.at(-1)).toMatchObject({ choices: [{ finish_reason: "stop" }] });
  });
});
