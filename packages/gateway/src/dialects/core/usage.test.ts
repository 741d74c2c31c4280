import { describe, expect, it } from "vitest";
import { geminiGenerate } from "../gemini-generate/index.ts";
import { openaiImages } from "../endpoints/openai-images.ts";
import { anthropicMessages } from "../anthropic-messages/index.ts";
import { openaiChat } from "../openai-chat/index.ts";
import { openaiResponses } from "../openai-responses/index.ts";

describe("usage", () => {
  it("of images that were cached counts every token once", () => {
    const usageMetadata = {
      promptTokenCount: 1400,
      candidatesTokenCount: 10,
      cachedContentTokenCount: 1300,
      promptTokensDetails: [
        { modality: "TEXT", tokenCount: 110 },
        { modality: "IMAGE", tokenCount: 1290 },
      ],
    };
    const cacheTokensDetails = [{ modality: "IMAGE", tokenCount: 1290 }];
    const expected = { input: 1400, cachedInput: 1300 };
    const gemini = geminiGenerate;
    expect(gemini.usage({ usageMetadata: { ...usageMetadata, cacheTokensDetails } })).toMatchObject({
      ...expected,
      imageInput: 0,
    });
    expect(gemini.usage({ usageMetadata })).toMatchObject({ ...expected, imageInput: 100 });
    const cached_tokens_details = { image_tokens: 1290 };
    const input_tokens_details = { image_tokens: 1290, cached_tokens: 1300, cached_tokens_details };
    const usage = { input_tokens: 1400, output_tokens: 10, input_tokens_details };
    expect(openaiResponses.usage({ usage })).toMatchObject({ ...expected, imageInput: 0 });
  });

  it("of streamed images that are reported one by one leaves out those that failed", () => {
    const meter = openaiImages.meter();
    for (const event of [
      { type: "image_generation.partial_succeeded", url: "https://a/1" },
      { type: "image_generation.partial_failed", error: { code: "filtered", message: "no" } },
      { type: "image_generation.partial_succeeded", url: "https://a/3" },
    ])
      meter.feed(Buffer.from(`data: ${JSON.stringify(event)}\n\n`));
    expect(meter).toMatchObject({ finished: false, usage: { units: 2 }, error: undefined });
    meter.feed(Buffer.from('data: {"type":"image_generation.completed","usage":{"output_tokens":9}}\n\n'));
    expect(meter).toMatchObject({ finished: true, usage: { units: 2, output: 9 } });
  });
});

describe("usage that contradicts itself", () => {
  const chat = (usage: object) => openaiChat.usage({ usage } as never);
  const messages = (usage: object) => anthropicMessages.usage({ usage } as never);

  it.each<[string, object, object, object]>([
    [
      "more cached than read",
      { prompt_tokens_details: { cached_tokens: 90 } },
      { cachedInput: 50 },
      { cached_over_input: 90 },
    ],
    [
      "more written to a cache than read",
      { prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 40 } },
      { cachedInput: 30, cacheWrite: 20 },
      { cache_write_over_input: 40 },
    ],
    [
      "more sound than input",
      { prompt_tokens_details: { audio_tokens: 80 } },
      { audioInput: 50 },
      { audio_over_input: 80 },
    ],
    [
      "more reasoning than output",
      { completion_tokens_details: { reasoning_tokens: 50 } },
      { reasoning: 5 },
      { reasoning_over_output: 50 },
    ],
    ["a total of something else", { total_tokens: 99 }, { input: 50, output: 5 }, { total_contradicts: 99 }],
    [
      "a negative count",
      { prompt_tokens_details: { cached_tokens: -5 } },
      { cachedInput: 0 },
      { invalid_cached_tokens: -5 },
    ],
    [
      "a count that is text",
      { prompt_tokens_details: { cached_tokens: "12" } },
      { cachedInput: 0 },
      { invalid_cached_tokens: '"12"' },
    ],
    ["a fraction", { completion_tokens: 1.5, total_tokens: 58 }, { output: 8 }, { invalid_completion_tokens: 1.5 }],
  ])("%s is marked with the rule and the reported figure", (_what, more, expected, doubts) => {
    expect(chat({ prompt_tokens: 50, completion_tokens: 5, ...more })).toMatchObject({ ...expected, doubts });
  });

  it("that is right has no mark", () => {
    const right = {
      prompt_tokens: 50,
      completion_tokens: 5,
      total_tokens: 55,
      prompt_tokens_details: { cached_tokens: null },
    };
    expect(chat(right)).not.toHaveProperty("doubts");
    const cached = { input_tokens: 3, output_tokens: 5, cache_creation_input_tokens: 9, cache_read_input_tokens: 40 };
    const cache_creation = { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 5 };
    expect(messages({ ...cached, cache_creation })).not.toHaveProperty("doubts");
  });

  it.each([
    [{ ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 }, { cacheWrite: 500, cacheWrite1h: 0 }, 0],
    [{ ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 700 }, { cacheWrite: 800, cacheWrite1h: 700 }, 800],
  ])("the larger of a cache's writes %j and their total of 500 is charged", (cache_creation, expected, reported) => {
    const usage = { input_tokens: 3, output_tokens: 5, cache_creation_input_tokens: 500, cache_creation };
    expect(messages(usage)).toMatchObject({
      ...expected,
      input: 3 + expected.cacheWrite,
      doubts: { cache_write_contradicts: reported },
    });
  });
});
