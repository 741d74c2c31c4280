import { describe, expect, it } from "vitest";
import { askOf, callOf, exchangeOf, jsonOf } from "../../../../test/kit/provider-kit.ts";
import { failureIn200 } from "../../core/errors/classify.ts";
import { gemini } from "../gemini/gemini.ts";
import { vertex } from "../vertex/vertex.ts";

const spec = askOf({ operation: "images.generations", dialect: "openai-images", model: "m" });

const candidate = (finishReason: string, ...parts: object[]) => ({
  candidates: [{ content: { parts }, finishReason }],
});
const picture = { inlineData: { mimeType: "image/png", data: "QQ==" } };

async function answerOf(json: object) {
  const exchange = gemini.speaks.find((route) => route.operation === "images.generations")?.exchange;
  const { context } = exchangeOf([{ json }], { spec });
  const answer = await exchange?.(callOf("https://h/v1beta/models/m:generateContent", {}), context);
  return answer && (await jsonOf(answer));
}

async function upstreamErrorOf(json: object) {
  const body = Buffer.from(JSON.stringify(await answerOf(json)));
  return failureIn200(gemini, { status: 200, headers: {}, body });
}

describe("an answer without a picture", () => {
  it.each<[string, object, string]>([
    ["whose prompt was blocked", { promptFeedback: { blockReason: "PROHIBITED_CONTENT" } }, "(PROHIBITED_CONTENT)"],
    ["whose picture was held back", candidate("IMAGE_SAFETY"), "(IMAGE_SAFETY)"],
    ["of Imagen, which says nothing", {}, "drew no picture."],
  ])("%s is a refusal", async (_name, json, message) => {
    expect(await upstreamErrorOf(json)).toMatchObject({
      class: "content_filter",
      status: 400,
      retry: false,
      message: expect.stringContaining(message) as string,
    });
  });

  it("but with text is a failure that quotes it", async () => {
    const words = candidate("STOP", { text: "Hm.", thought: true }, { text: "Which cat?" });
    expect(await upstreamErrorOf(words)).toMatchObject({ class: "server", status: 502, message: "Which cat?" });
  });

  it("is nothing else", async () => {
    const held = { predictions: [{ raiFilteredReason: "no" }] };
    for (const json of [candidate("STOP", { text: "Here:" }, picture), held, { error: { message: "x" } }])
      expect(await answerOf(json)).toEqual(json);
  });

  it("is looked for on Vertex too", async () => {
    const exchange = vertex.speaks.find((route) => route.operation === "images.generations")?.exchange;
    const { context } = exchangeOf([{ json: candidate("NO_IMAGE") }], { spec });
    const answer = await exchange?.(callOf("https://h/m:generateContent", {}), context);
    expect(answer && (await jsonOf(answer))).toMatchObject({ error: { type: "server_error" } });
  });
});
