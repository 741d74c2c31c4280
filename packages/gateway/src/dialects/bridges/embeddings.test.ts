import { describe, expect, it } from "vitest";
import { createBridgeContext } from "../../../test/kit/provider-kit.ts";
import { geminiToEmbeddings } from "./embeddings.ts";

const said = (text: string) => ({ parts: [{ text }] });
const request = (body: object, context = createBridgeContext()) =>
  geminiToEmbeddings.begin(context).request(body as never);

describe("Gemini clients on embeddings of texts", () => {
  it.each([
    ["a picture", { content: { parts: [{ inlineData: { mimeType: "image/png", data: "QQ==" } }] } }],
    ["a file next to a text", { content: { parts: [{ text: "a" }, { file_data: { file_uri: "gs://b/f" } }] } }],
    ["sound in a batch", { requests: [{ content: said("a") }, { content: { parts: [{ inlineData: {} }] } }] }],
  ])("are refused %s, instead of the vector of an empty text", (_name, body) => {
    expect(() => request(body)).toThrow("content cannot be used");
  });

  it("have one size for a whole batch", () => {
    const sized = (...sizes: (number | undefined)[]) => ({
      requests: sizes.map((outputDimensionality) => ({ content: said("a"), outputDimensionality })),
    });
    expect(request(sized(8, 8))["dimensions"]).toBe(8);
    expect(() => request(sized(8, 16))).toThrow("outputDimensionality cannot be used");
    expect(() => request(sized(8, undefined))).toThrow("outputDimensionality cannot be used");
  });

  it("report what is not carried", () => {
    const context = createBridgeContext();
    request({ model: "models/m", content: said("a"), title: "T", task_type: "RETRIEVAL_DOCUMENT" }, context);
    expect(context.lost).toEqual(["title", "task_type"]);
  });
});
