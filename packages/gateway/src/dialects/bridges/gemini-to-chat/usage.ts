import { compact, count, object } from "../../core/read.ts";
import type { JsonObject } from "../../core/types.ts";
import { geminiUsage, readChatUsage } from "../../core/usage.ts";

const MODALITIES = [
  ["TEXT", "text_tokens"],
  ["IMAGE", "image_tokens"],
  ["AUDIO", "audio_tokens"],
] as const;

/** Converts the usage of a chat answer to `usageMetadata`; undefined if no count is readable. */
export function buildUsageMetadata(usage: JsonObject | undefined): JsonObject | undefined {
  const read = readChatUsage(usage);
  if (read === undefined) return undefined;
  const prompt = object(usage, "prompt_tokens_details");
  return compact({
    ...geminiUsage(read),
    promptTokensDetails: toTokenDetails(prompt),
    cacheTokensDetails: toTokenDetails(object(prompt, "cached_tokens_details")),
    candidatesTokensDetails: toTokenDetails(object(usage, "completion_tokens_details")),
  });
}

/**
 * Returns the reported token details that are not zero: a prompt with pictures may have a count of sound that is zero.
 */
function toTokenDetails(details: JsonObject | undefined): JsonObject[] | undefined {
  const reported = MODALITIES.flatMap(([modality, key]) => {
    const tokenCount = count(details, key) ?? 0;
    return tokenCount === 0 ? [] : [{ modality, tokenCount }];
  });
  return reported.length === 0 ? undefined : reported;
}
