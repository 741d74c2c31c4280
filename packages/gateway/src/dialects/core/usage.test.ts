import { describe, expect, it } from "vitest";
import { geminiGenerate } from "../gemini-generate/index.ts";
import { openaiImages } from "../endpoints/openai-images.ts";
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
