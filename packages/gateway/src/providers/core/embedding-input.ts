import type { JsonObject, JsonValue } from "../../dialects/core/types.ts";
import { unsupportedParameter } from "../../lib/app-error.ts";

/** Returns the texts of an embeddings request. Throws for token lists, because the vendor takes only text. */
export function embeddingTexts(body: JsonObject): string[] {
  const { input } = body;
  const items: readonly (JsonValue | undefined)[] = Array.isArray(input) ? input : [input];
  return items.map((item) => {
    if (typeof item !== "string") throw unsupportedParameter("input");
    return item;
  });
}

/** Builds an embeddings answer of the OpenAI protocol. */
export function embeddingAnswer(
  model: string,
  vectors: readonly (JsonValue | undefined)[],
  promptTokens: number | undefined,
): JsonObject {
  const tokens = promptTokens ?? 0;
  return {
    object: "list",
    data: vectors.map((embedding, index) => ({ object: "embedding", index, embedding: embedding ?? [] })),
    model,
    ...(promptTokens === undefined ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
  };
}
