import type { JsonObject, Usage } from "../../src/dialects/core/types.ts";
import { expectSame } from "./compare.ts";

const FIELDS: Readonly<Record<string, (usage: Usage) => number | undefined>> = {
  prompt_tokens: (usage) => usage.input,
  completion_tokens: (usage) => usage.output,
  total_tokens: (usage) => usage.input + usage.output,
  cached_tokens: (usage) => usage.cachedInput,
  cache_write_tokens: (usage) => usage.cacheWrite,
  reasoning_tokens: (usage) => usage.reasoning,
  images: (usage) => usage.units,
  characters: (usage) => usage.units,
};

/**
 * Usage that an upstream reported, in the normal form; zeros stand for an upstream that reports none. Of what is
 * estimated only the prompt may be known: some streams name it before they fail.
 */
export function compareUsage(actual: Usage | undefined, expected: JsonObject): void {
  const isEstimate = expected["estimated"] === true || expected["source"] === "estimate";
  if (isEstimate && actual === undefined) return;
  if (isEstimate) return expectSame(actual?.input, expected["prompt_tokens"], "usage prompt_tokens");
  if (actual === undefined && Object.keys(FIELDS).every((name) => !expected[name])) return;
  for (const [name, value] of Object.entries(expected)) {
    const read = FIELDS[name];
    if (read !== undefined) expectSame(actual && read(actual), value, `usage ${name}`);
  }
}
