import { describe, expect, it } from "vitest";
import { parseEvents } from "../lib/text/sse.ts";
import { jsonBody } from "../relay/body/read-body.ts";
import { openaiCompletions as completions } from "./endpoints/openai-completions.ts";
import { openaiImages as images } from "./endpoints/openai-images.ts";

const createBody = (json: unknown) => jsonBody(Buffer.from(JSON.stringify(json)));

describe("streams of whole answers", () => {
  it("of text completions become each other", () => {
    const answer = {
      id: "c",
      object: "text_completion",
      created: 1,
      model: "m",
      choices: [{ index: 0, text: "hi", logprobs: null, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    };
    const ask = {
      ...completions.inspect(createBody({ model: "m", prompt: "x" }), "completions", undefined),
      wantsStreamUsage: true,
    };
    const events = parseEvents(completions.toStream(answer, ask)).flatMap(({ data }) => (data ? [data] : []));
    expect(completions.assembleAnswer(events)).toEqual(answer);
  });

  it("of text completions keep the probabilities", () => {
    const logprobs = (...tokens: string[]) => ({ tokens, token_logprobs: tokens.map(() => -1), top_logprobs: null });
    const chunk = (index: number, token: string) => ({ choices: [{ index, text: token, logprobs: logprobs(token) }] });
    const end = { choices: [{ index: 0, text: "", logprobs: null, finish_reason: "stop" }] };
    const events = [chunk(0, "a"), chunk(1, "x"), chunk(0, "b"), end];
    expect(completions.assembleAnswer(events)).toMatchObject({
      choices: [
        { text: "ab", logprobs: logprobs("a", "b") },
        { text: "x", logprobs: logprobs("x") },
      ],
    });
  });

  it("of images carry each image and the usage", () => {
    const spec = images.inspect(createBody({ prompt: "x" }), "images.generations", undefined);
    const events = parseEvents(
      images.toStream({ created: 1, data: [{ b64_json: "aa" }], usage: { input_tokens: 1 } }, spec),
    );
    expect(events).toMatchObject([
      {
        event: "image_generation.completed",
        data: { b64_json: "aa", type: "image_generation.completed", created_at: 1 },
      },
    ]);
    expect(images.assembleAnswer(events.flatMap(({ data }) => (data ? [data] : [])))).toMatchObject({
      created: 1,
      data: [{ b64_json: "aa" }],
    });
  });

  it("of images hold bytes, which upstreams without streams have to be asked for", () => {
    const asked = (json: object) =>
      images.inspect(createBody({ prompt: "x", ...json }), "images.generations", undefined);
    expect(asked({ stream: true }).wantsBase64).toBe(true);
    expect(asked({ stream: false }).wantsBase64).toBeUndefined();
  });
});
