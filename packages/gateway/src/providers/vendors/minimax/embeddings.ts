import type { Bridge } from "../../../dialects/core/bridge.ts";
import { count, list, text } from "../../../dialects/core/read.ts";
import { embeddingAnswer, embeddingTexts } from "../../core/embedding-input.ts";
import { unaryBridge } from "../../core/unary-bridge.ts";

export const embeddingBridge: Bridge = unaryBridge({
  client: "openai-embeddings",
  upstream: "private:minimax-embeddings",
  request: (body, context) => ({
    model: context.upstreamModel,
    texts: embeddingTexts(body),
    type: text(body, "input_type") ?? "db",
  }),
  response: (body, context) => embeddingAnswer(context.spec.model, list(body, "vectors"), count(body, "total_tokens")),
});
