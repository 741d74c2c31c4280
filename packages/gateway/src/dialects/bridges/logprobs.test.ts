import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import type { JsonObject } from "../core/types.ts";

describe("probabilities of tokens for Responses clients", () => {
  const bridge = () => run("openai-responses", "openai-chat", "gpt-4.1");
  const token = (written: string) => ({ token: written, logprob: -0.5, bytes: [1], top_logprobs: [] });
  const piece = (written: string) => ({
    choices: [{ index: 0, delta: { content: written }, logprobs: { content: [token(written)] }, finish_reason: null }],
  });

  it("are asked for by either of their names", () => {
    const include = ["message.output_text.logprobs"];
    expect(bridge().request({ input: "hi", include })).toMatchObject({ logprobs: true });
    expect(bridge().request({ input: "hi", top_logprobs: 2 })).toMatchObject({ logprobs: true, top_logprobs: 2 });
    expect(bridge().request({ input: "hi", top_logprobs: 0 })).not.toHaveProperty("logprobs");
  });

  it("stand in the part of their text", () => {
    const logprobs = [token("Sun")];
    const choices = [{ message: { content: "Sun" }, logprobs: { content: logprobs }, finish_reason: "stop" }];
    expect(bridge().answer({ choices })).toMatchObject({ output: [{ content: [{ text: "Sun", logprobs }] }] });
  });

  it("come with the delta that they belong to, and with the whole text", () => {
    const events = bridge().stream([piece("Sun"), piece("ny")]);
    const of = (type: string) => events.filter((event) => event["type"] === type).map((event) => event["logprobs"]);
    expect(of("response.output_text.delta")).toEqual([[token("Sun")], [token("ny")]]);
    expect(of("response.output_text.done")).toEqual([[token("Sun"), token("ny")]]);
    const content = [{ text: "Sunny", logprobs: [token("Sun"), token("ny")] }];
    expect(events.at(-1)).toMatchObject({ response: { output: [{ content }] } });
  });

  it("may come without text of their own, and never from thinking or calls", () => {
    const choice = (delta: object, written: string) => ({
      choices: [{ index: 0, delta, logprobs: { content: [token(written)] }, finish_reason: null }],
    });
    const call = { index: 0, id: "c", function: { name: "f", arguments: "{}" } };
    const events = bridge().stream([
      choice({ reasoning_content: "hm" }, "hm"),
      piece("Sun"),
      choice({ content: "" }, "ny"),
      choice({ tool_calls: [call] }, "f"),
    ]);
    const content = [{ text: "Sun", logprobs: [token("Sun"), token("ny")] }];
    expect(events.at(-1)).toMatchObject({ response: { output: [{}, { content }, {}] } });
  });

  it("come from Gemini's streams", () => {
    const logprobsResult = { chosenCandidates: [{ token: "hi", logProbability: -0.5 }] };
    const candidate = { content: { parts: [{ text: "hi" }] }, logprobsResult, finishReason: "STOP" };
    const last = run("openai-responses", "gemini-generate", "gemini-2.5-flash")
      .stream([{ candidates: [candidate] }])
      .at(-1);
    expect(last).toMatchObject({
      response: { output: [{ content: [{ logprobs: [{ token: "hi", logprob: -0.5 }] }] }] },
    });
  });
});

describe("probabilities of tokens for chat clients of Responses", () => {
  const bridge = () => run("openai-chat", "openai-responses", "gpt-4.1");
  const token = {
    token: "Sun",
    logprob: -0.5,
    bytes: [1],
    top_logprobs: [{ token: "Sun", logprob: -0.5, bytes: [1] }],
  };
  const bare = { token: "ny", logprob: -1, top_logprobs: [{ token: "ny", logprob: -1 }] };
  const bytes = [110, 121];
  const whole = { ...bare, bytes, top_logprobs: [{ token: "ny", logprob: -1, bytes }] };
  const reported = (...content: object[]) => ({ content, refusal: null });
  const delta = (written: string, ...logprobs: object[]) => ({
    type: "response.output_text.delta",
    delta: written,
    logprobs,
  });
  const done = (...logprobs: object[]) => ({ type: "response.output_text.done", text: "Sunny", logprobs });
  const item = (...logprobs: object[]) => ({
    type: "message",
    content: [{ type: "output_text", text: "Sunny", logprobs }],
  });
  const closed = (...logprobs: object[]) => ({ type: "response.output_item.done", item: item(...logprobs) });
  const streamChoices = (events: readonly object[]) =>
    bridge()
      .stream(events)
      .flatMap((chunk) => chunk["choices"] as JsonObject[]);

  it("are asked for by both of their names", () => {
    const messages = [{ role: "user", content: "hi" }];
    expect(bridge().request({ messages, logprobs: true, top_logprobs: 2 })).toMatchObject({
      include: ["message.output_text.logprobs"],
      top_logprobs: 2,
    });
    expect(bridge().request({ messages, logprobs: false })).not.toHaveProperty("include");
  });

  it("is next to the message", () => {
    const answer = bridge().answer({ status: "completed", output: [item(token), item(bare)] });
    expect(answer["choices"]).toMatchObject([{ logprobs: reported(token, whole) }]);
    expect(bridge().answer({ output: [item()] })["choices"]).not.toMatchObject([{ logprobs: {} }]);
  });

  it("come with the delta that they belong to, once", () => {
    const choices = streamChoices([delta("Sun", token), delta("ny", bare), done(token, bare), closed(token, bare)]);
    expect(choices.slice(1)).toMatchObject([
      { delta: { content: "Sun" }, logprobs: reported(token) },
      { delta: { content: "ny" }, logprobs: reported(whole) },
    ]);
    expect(choices).toHaveLength(3);
  });

  it("come late where the upstream reports them with the whole text", () => {
    const late = streamChoices([delta("Sunny"), done(token, bare), closed(token, bare)]);
    expect(late.slice(2)).toEqual([{ index: 0, delta: {}, finish_reason: null, logprobs: reported(token, whole) }]);
    const last = streamChoices([done(token, bare), closed(token, bare)]);
    expect(last.slice(1)).toMatchObject([{ delta: { content: "Sunny" }, logprobs: reported(token, whole) }]);
  });
});
