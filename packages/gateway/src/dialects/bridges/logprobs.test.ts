import { describe, expect, it } from "vitest";
import { run } from "../../../test/bridge-run.ts";

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
});
