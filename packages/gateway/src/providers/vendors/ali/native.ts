import type { Bridge } from "../../../dialects/core/bridge.ts";
import type { JsonObject, JsonValue } from "../../../dialects/core/types.ts";
import { compact, count, isObject, list, object, objects, text } from "../../../dialects/core/read.ts";
import { parseObject } from "../../../lib/text/json.ts";
import { embeddingAnswer, embeddingTexts } from "../../core/embedding-input.ts";
import { chunked, fanOut, ordered, withBody } from "../../core/private/batched-embeddings.ts";
import type { Exchange } from "../../core/types.ts";
import { unaryBridge } from "../../core/unary-bridge.ts";

export const embedBridge: Bridge = unaryBridge({
  client: "openai-embeddings",
  upstream: "private:ali-embed",
  request(body, context) {
    const parameters = compact({ text_type: body["text_type"], dimension: body["dimensions"] });
    return compact({
      model: context.upstreamModel,
      input: { texts: embeddingTexts(body) },
      parameters: Object.keys(parameters).length === 0 ? undefined : parameters,
    });
  },
  response(body, context) {
    const entries = ordered(objects(object(body, "output"), "embeddings"), "text_index");
    return embeddingAnswer(
      context.spec.model,
      entries.map((entry) => entry["embedding"]),
      count(object(body, "usage"), "total_tokens"),
    );
  },
});

/** Splits the texts: 25 per call for the first two generations, 10 for later ones. */
export const embedExchange: Exchange = async (call, context) => {
  const body = call.body && parseObject(call.body.toString("utf8"));
  const texts = list(object(body, "input"), "texts");
  const limit = /-v[12]$/.test(context.upstreamModel) ? 25 : 10;
  if (!body || texts.length <= limit) return context.send(call);
  const bodies = chunked(texts, limit).map((part): JsonObject => ({ ...body, input: { texts: part } }));
  return fanOut(
    bodies,
    (part) => context.send(withBody(call, part)),
    (answers) => ({
      output: {
        embeddings: answers
          .flatMap((answer) => ordered(objects(object(answer, "output"), "embeddings"), "text_index"))
          .map((entry, index) => ({ ...entry, text_index: index })),
      },
      usage: {
        total_tokens: answers.reduce((sum, answer) => sum + (count(object(answer, "usage"), "total_tokens") ?? 0), 0),
      },
    }),
  );
};

export const rerankBridge: Bridge = unaryBridge({
  client: "rerank",
  upstream: "private:ali-rerank",
  request: (body, context) => ({
    model: context.upstreamModel,
    input: { query: body["query"], documents: list(body, "documents").map((document) => plainText(document)) },
    parameters: compact({ top_n: body["top_n"], return_documents: body["return_documents"] }),
  }),
  response(body) {
    const total = count(object(body, "usage"), "total_tokens");
    return {
      results: [...objects(object(body, "output"), "results")],
      ...(total === undefined ? {} : { usage: { prompt_tokens: total, completion_tokens: 0, total_tokens: total } }),
    };
  },
});

/** Returns a document as plain text, because the vendor's text models take nothing else. */
function plainText(document: JsonValue): JsonValue {
  const isText = isObject(document) && Object.keys(document).length === 1 && typeof document["text"] === "string";
  return isText ? (document["text"] as string) : document;
}

export const imageBridge: Bridge = unaryBridge({
  client: "openai-images",
  upstream: "private:ali-image",
  request(body, context) {
    for (const name of ["quality", "user", "background"]) if (body[name] !== undefined) context.dropped(name);
    return {
      model: context.upstreamModel,
      input: compact({ prompt: body["prompt"], negative_prompt: body["negative_prompt"] }),
      parameters: compact({
        size: text(body, "size")?.replace("x", "*"),
        n: body["n"],
        steps: body["steps"],
        scale: body["scale"],
        seed: body["seed"],
        style: body["style"],
      }),
    };
  },
  response(body, context) {
    const results = objects(object(body, "output"), "results");
    const images = results.flatMap((result): JsonObject[] => {
      const url = text(result, "url");
      const data = text(result, "b64_image");
      if (url !== undefined) return [{ url }];
      return data === undefined ? [] : [{ b64_json: data }];
    });
    return { created: Math.floor(context.now / 1000), data: images };
  },
});
