import type { Bridge, JsonObject } from "../../dialects/types.ts";
import { compact, object, objects, text } from "../../dialects/read.ts";
import { embeddingAnswer, embeddingTexts } from "../embedding-input.ts";
import { unaryBridge } from "../unary-bridge.ts";

/** OpenAI embeddings over `:embedContent` (one text) and `:batchEmbedContents` (several). The vendor reports no usage. */
export const embedBridge: Bridge = unaryBridge({
  client: "openai-embeddings",
  upstream: "private:gemini-embed",
  request(body, context) {
    const texts = embeddingTexts(body);
    const model = `models/${context.upstreamModel}`;
    const request = (value: string): JsonObject =>
      compact({
        model,
        content: { parts: [{ text: value }] },
        taskType: text(body, "task_type"),
        outputDimensionality: body["dimensions"],
      });
    return texts.length === 1 ? request(texts[0] ?? "") : { requests: texts.map(request) };
  },
  response(body, context) {
    const single = object(body, "embedding");
    const vectors = single ? [single["values"]] : objects(body, "embeddings").map((entry) => entry["values"]);
    return embeddingAnswer(context.ask.model, vectors, undefined);
  },
});
