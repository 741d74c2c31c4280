import type { CachePoints } from "../../core/types.ts";
import { findSmallestPrefix } from "../anthropic/smallest-prefix.ts";

/** The vendor says 1,000 tokens for each model of the series. */
const SMALLEST_OF_NOVA = 1_000;

/** Returns the smallest prefix that a model behind Converse caches; undefined for models that take no marks. */
export function findSmallestPoint(model: string): number | undefined {
  return /(?:^|\.)amazon\.nova-(?:micro|lite|pro|premier)/.test(model) ? SMALLEST_OF_NOVA : findSmallestPrefix(model);
}

/** https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html */
export const CONVERSE_POINTS: CachePoints = {
  toolPath: ["toolConfig", "tools"],
  item: (life) => `{"cachePoint":{"type":"default"${life === "1h" ? ',"ttl":"1h"' : ""}}}`,
  unmarkable: "reasoningContent",
};
