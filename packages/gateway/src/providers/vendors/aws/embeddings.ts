import type { Bridge } from "../../../dialects/core/bridge.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { compact, count, isObject, list, text } from "../../../dialects/core/read.ts";
import { parseObject } from "../../../lib/text/json.ts";
import { asNumber } from "../../core/errors/error-body.ts";
import { embeddingAnswer, embeddingTexts } from "../../core/embedding-input.ts";
import { chunked, fanOut, sumCounts, withBody } from "../../core/private/batched-embeddings.ts";
import type { ExchangeContext, UpstreamAnswer, UpstreamCall } from "../../core/types.ts";
import { unaryBridge } from "../../core/unary-bridge.ts";

const COHERE_TEXTS = 96;
/** The header in which the vendor reports tokens, for models whose body has no count. */
export const TOKENS_HEADER = "x-amzn-bedrock-input-token-count";

function isCohere(model: string): boolean {
  return model.includes("cohere.");
}

/** True for the first Titan model, which refuses every member except the text. */
function isFirstTitan(model: string): boolean {
  return model.includes("titan-embed-text-v1");
}

/** Titan takes one text per call and Cohere 96; longer lists are stored for the exchange, which splits them. */
export const embedBridge: Bridge = unaryBridge({
  client: "openai-embeddings",
  upstream: "private:aws-embed",
  request(body, context) {
    const texts = embeddingTexts(body);
    if (isCohere(context.upstreamModel)) {
      return compact({
        texts,
        input_type: text(body, "input_type") ?? "search_document",
        embedding_types: ["float"],
        output_dimension: body["dimensions"],
      });
    }
    const given = texts.length === 1 ? { inputText: texts[0] ?? "" } : { inputTexts: texts };
    if (isFirstTitan(context.upstreamModel)) {
      if (body["dimensions"] !== undefined) context.dropped("dimensions");
      return given;
    }
    return compact({ ...given, dimensions: body["dimensions"], normalize: true });
  },
  response(body, context) {
    const grouped = body["embeddings"];
    const vectors =
      body["embedding"] === undefined
        ? isObject(grouped)
          ? list(grouped, "float")
          : list(body, "embeddings")
        : [body["embedding"]];
    return embeddingAnswer(context.spec.model, vectors, count(body, "inputTextTokenCount"));
  },
});

type Sign = (call: UpstreamCall, context: ExchangeContext) => Promise<void>;

/** Builds the exchange that splits the texts. Every part is signed again, because the signature covers the body. */
export function embedExchange(sign: Sign) {
  return async (call: UpstreamCall, context: ExchangeContext): Promise<UpstreamAnswer> => {
    const body = call.body && parseObject(call.body.toString("utf8"));
    const bodies = body && splitBodies(body);
    if (!bodies) return context.send(call);
    const send = async (part: JsonObject) => {
      const single = withBody(call, part);
      await sign(single, context);
      return context.send(single);
    };
    return fanOut(bodies, send, (answers, heads) =>
      compact({
        embeddings: answers.flatMap((answer) => {
          const { embeddings } = answer;
          if (answer["embedding"] !== undefined) return [answer["embedding"]];
          return isObject(embeddings) ? [...list(embeddings, "float")] : [...list(answer, "embeddings")];
        }),
        inputTextTokenCount: sumCounts(
          answers.map((answer, at) => count(answer, "inputTextTokenCount") ?? asNumber(heads[at]?.[TOKENS_HEADER])),
        ),
      }),
    );
  };
}

function splitBodies(body: JsonObject): JsonObject[] | undefined {
  const { inputTexts, ...rest } = body;
  if (Array.isArray(inputTexts)) return inputTexts.map((inputText) => ({ inputText, ...rest }));
  const texts = list(body, "texts");
  return texts.length > COHERE_TEXTS
    ? chunked(texts, COHERE_TEXTS).map((part) => ({ ...body, texts: part }))
    : undefined;
}
