import { describe, expect, it } from "vitest";
import { createRequestSpec, createUpstreamCall, createExchange, readJson } from "../../../../test/kit/provider-kit.ts";
import { failureIn200 } from "../../core/errors/classify.ts";
import { gemini } from "../gemini/gemini.ts";
import { vertex } from "../vertex/vertex.ts";

const spec = createRequestSpec({ operation: "images.generations", dialect: "openai-images", model: "m" });

const candidate = (finishReason: string, ...parts: object[]) => ({
  candidates: [{ content: { parts }, finishReason }],
});
const picture = { inlineData: { mimeType: "image/png", data: "QQ==" } };

async function runExchange(json: object) {
  const exchange = gemini.speaks.find((route) => route.operation === "images.generations")?.exchange;
  const { context } = createExchange([{ json }], { spec });
  const answer = await exchange?.(createUpstreamCall("https://h/v1beta/models/m:generateContent", {}), context);
  return answer && (await readJson(answer));
}

async function readUpstreamError(json: object) {
  const body = Buffer.from(JSON.stringify(await runExchange(json)));
  return failureIn200(gemini, { status: 200, headers: {}, body });
}

describe("an answer without a picture", () => {
  it.each<[string, object, string]>([
    ["whose prompt was blocked", { promptFeedback: { blockReason: "PROHIBITED_CONTENT" } }, "(PROHIBITED_CONTENT)"],
    ["whose picture was held back", candidate("IMAGE_SAFETY"), "(IMAGE_SAFETY)"],
    ["of Imagen, which says nothing", {}, "drew no picture."],
  ])("%s is a refusal", async (_name, json, message) => {
    expect(await readUpstreamError(json)).toMatchObject({
      class: "content_filter",
      status: 400,
      retry: false,
      message: expect.stringContaining(message) as string,
    });
  });

  it("but with text is a failure that quotes it", async () => {
    const words = candidate("STOP", { text: "Hm.", thought: true }, { text: "Which cat?" });
    expect(await readUpstreamError(words)).toMatchObject({ class: "server", status: 502, message: "Which cat?" });
  });

  it("is nothing else", async () => {
    const held = { predictions: [{ raiFilteredReason: "no" }] };
    for (const json of [candidate("STOP", { text: "Here:" }, picture), held, { error: { message: "x" } }])
      expect(await runExchange(json)).toEqual(json);
  });

  it("is looked for on Vertex too", async () => {
    const exchange = vertex.speaks.find((route) => route.operation === "images.generations")?.exchange;
    const { context } = createExchange([{ json: candidate("NO_IMAGE") }], { spec });
    const answer = await exchange?.(createUpstreamCall("https://h/m:generateContent", {}), context);
    expect(answer && (await readJson(answer))).toMatchObject({ error: { type: "server_error" } });
  });
});
