import type { Bridge } from "../../../dialects/core/bridge.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { compact, count, list, object, text } from "../../../dialects/core/read.ts";
import { parseObject } from "../../../lib/text/json.ts";
import { embeddingAnswer, embeddingTexts } from "../../core/embedding-input.ts";
import { chunked, fanOut, sumCounts, withBody } from "../../core/private/batched-embeddings.ts";
import type { Exchange } from "../../core/types.ts";
import { unaryBridge } from "../../core/unary-bridge.ts";

const TEXTS_A_CALL = 96;

export const embedBridge: Bridge = unaryBridge({
  client: "openai-embeddings",
  upstream: "private:cohere-embed",
  request: (body, context) =>
    compact({
      model: context.upstreamModel,
      texts: embeddingTexts(body),
      input_type: text(body, "input_type") ?? "search_document",
      embedding_types: ["float"],
      truncate: body["truncate"],
      output_dimension: body["dimensions"],
    }),
  response: (body, context) =>
    embeddingAnswer(context.spec.model, list(object(body, "embeddings"), "float"), readInputTokens(body)),
});

function readInputTokens(body: JsonObject): number | undefined {
  return count(object(object(body, "meta"), "billed_units"), "input_tokens");
}

export const embedExchange: Exchange = async (call, context) => {
  const body = call.body && parseObject(call.body.toString("utf8"));
  const texts = list(body, "texts");
  if (!body || texts.length <= TEXTS_A_CALL) return context.send(call);
  const bodies = chunked(texts, TEXTS_A_CALL).map((part): JsonObject => ({ ...body, texts: part }));
  return fanOut(
    bodies,
    (part) => context.send(withBody(call, part)),
    (answers) => ({
      embeddings: { float: answers.flatMap((answer) => [...list(object(answer, "embeddings"), "float")]) },
      meta: { billed_units: { input_tokens: sumCounts(answers.map(readInputTokens)) } },
    }),
  );
};
