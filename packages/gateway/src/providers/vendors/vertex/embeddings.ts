import type { Bridge } from "../../../dialects/core/bridge.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { compact, count, isSet, object, objects } from "../../../dialects/core/read.ts";
import { parseObject } from "../../../lib/text/json.ts";
import { embeddingAnswer, embeddingTexts } from "../../core/embedding-input.ts";
import { chunked, fanOut, withBody } from "../../core/private/batched-embeddings.ts";
import type { Exchange } from "../../core/types.ts";
import { unaryBridge } from "../../core/unary-bridge.ts";

export const embedBridge: Bridge = unaryBridge({
  client: "openai-embeddings",
  upstream: "private:vertex-embed",
  request(body) {
    const options = compact({ task_type: body["task_type"], title: body["title"] });
    const parameters = compact({ outputDimensionality: body["dimensions"], autoTruncate: body["auto_truncate"] });
    return compact({
      instances: embeddingTexts(body).map((content) => ({ content, ...options })),
      parameters: Object.keys(parameters).length === 0 ? undefined : parameters,
    });
  },
  response(body, context) {
    const found = objects(body, "predictions").map((prediction) => object(prediction, "embeddings"));
    const counts = found.map((entry) => count(object(entry, "statistics"), "token_count"));
    const total = counts.every(isSet) ? counts.reduce<number>((sum, tokens) => sum + (tokens ?? 0), 0) : undefined;
    return embeddingAnswer(
      context.spec.model,
      found.map((entry) => entry?.["values"]),
      total,
    );
  },
});

const TEXTS_A_CALL = 250;

/** Splits the texts: gemini-embedding takes one text per call, the older models up to 250. */
export const embedExchange: Exchange = async (call, context) => {
  const body = call.body && parseObject(call.body.toString("utf8"));
  const limit = context.upstreamModel.startsWith("gemini-embedding") ? 1 : TEXTS_A_CALL;
  const instances = objects(body, "instances");
  if (!body || instances.length <= limit) return context.send(call);
  const bodies = chunked(instances, limit).map((part): JsonObject => ({ ...body, instances: part }));
  return fanOut(
    bodies,
    (part) => context.send(withBody(call, part)),
    (answers) => ({
      predictions: answers.flatMap((answer) => [...objects(answer, "predictions")]),
    }),
  );
};

export function isEmbedding(model: string): boolean {
  return /embedding|gecko/.test(model);
}
