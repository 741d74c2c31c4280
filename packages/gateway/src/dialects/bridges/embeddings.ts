import { unsupportedParameter } from "../../lib/app-error.ts";
import { unpackFloats } from "../endpoints/openai-embeddings.ts";
import { bareModel, gNumber } from "../gemini-generate/fields.ts";
import { compact, isObject, number, object, objects, text } from "../core/read.ts";
import type { Bridge, BridgeContext, Conversion, StreamBridge } from "../core/bridge.ts";
import { statelessBridge } from "../core/stateless-bridge.ts";
import type { JsonObject, JsonValue } from "../core/types.ts";
import { noteDropped } from "./parts/answer/dropped-fields.ts";

const NO_STREAM: StreamBridge = { event: (event) => [event], end: () => [] };

/** OpenAI clients on Gemini's embeddings: always a batch, whose answer is in the order of its requests. */
export const embeddingsToGemini: Bridge = statelessBridge({
  client: "openai-embeddings",
  upstream: "gemini-embed",
  request(body, context) {
    noteDropped(body, new Set(["model", "input", "dimensions", "encoding_format", "user", "task_type"]), context);
    const model = `models/${bareModel(context.upstreamModel)}`;
    const requests = readTexts(body["input"]).map((written) =>
      compact({
        model,
        content: { parts: [{ text: written }] },
        taskType: text(body, "task_type"),
        outputDimensionality: number(body, "dimensions"),
      }),
    );
    const [only] = requests;
    return requests.length === 1 && only !== undefined ? only : { requests };
  },
  response(body, context) {
    const vectors = [...objects(body, "embeddings"), object(body, "embedding")].filter(isObject);
    const data = vectors.map((vector, index) => ({
      object: "embedding",
      index,
      embedding: filled(listNumbers(vector["values"])),
    }));
    const tokens = gNumber(object(body, "usageMetadata"), "promptTokenCount");
    return {
      object: "list",
      data,
      model: context.upstreamModel,
      ...(tokens !== undefined && { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
    };
  },
  stream: () => NO_STREAM,
});

/** Gemini clients on OpenAI's embeddings: the body decides whether it is one content or a batch. */
export const geminiToEmbeddings: Bridge = {
  client: "gemini-embed",
  upstream: "openai-embeddings",
  begin: (context) => new GeminiToEmbeddings(context),
};

class GeminiToEmbeddings implements Conversion {
  readonly #context: BridgeContext;
  #isBatch = false;

  constructor(context: BridgeContext) {
    this.#context = context;
  }

  request(body: JsonObject): JsonObject {
    const batch = objects(body, "requests");
    this.#isBatch = batch.length > 0;
    const requests = this.#isBatch ? batch : [body];
    const input = requests.map((request) => contentText(object(request, "content")));
    const dimensions = gNumber(requests[0], "outputDimensionality");
    for (const request of requests) {
      if (gNumber(request, "outputDimensionality") !== dimensions) throw unsupportedParameter("outputDimensionality");
      noteDropped(request, CARRIED, this.#context);
    }
    return compact({
      model: this.#context.upstreamModel,
      input: this.#isBatch ? input : (input[0] ?? ""),
      dimensions,
      encoding_format: "float",
    });
  }

  response(body: JsonObject): JsonObject {
    const sorted = objects(body, "data").toSorted((a, b) => (number(a, "index") ?? 0) - (number(b, "index") ?? 0));
    const vectors = sorted.map((item) => ({ values: filled(readVector(item["embedding"])) }));
    return this.#isBatch ? { embeddings: vectors } : { embedding: vectors[0] ?? { values: [] } };
  }

  stream(): StreamBridge {
    return NO_STREAM;
  }
}

const CARRIED = new Set(["model", "content", "outputDimensionality", "output_dimensionality"]);

function readTexts(input: JsonValue | undefined): string[] {
  if (typeof input === "string") return [input];
  const items = Array.isArray(input) ? input : [];
  return items.map((item) => {
    if (typeof item !== "string") throw unsupportedParameter("input");
    return item;
  });
}

/**
 * Returns the text of a content. Throws for pictures and sound: the other protocol does not take them, and the vector
 * would be that of an empty text.
 */
function contentText(content: JsonObject | undefined): string {
  return objects(content, "parts")
    .map((part) => {
      const written = text(part, "text");
      if (written === undefined) throw unsupportedParameter("content");
      return written;
    })
    .join("");
}

function listNumbers(values: JsonValue | undefined): number[] {
  return Array.isArray(values) ? values.filter((value) => typeof value === "number") : [];
}

/** Returns the values; throws if there are none, because an empty embedding would look like a result. */
function filled(values: number[]): number[] {
  if (values.length === 0) throw new Error("an embedding is empty");
  return values;
}

function readVector(embedding: JsonValue | undefined): number[] {
  return typeof embedding === "string" ? unpackFloats(embedding) : listNumbers(embedding);
}
