import { anthropicCountTokens, anthropicMessages } from "./anthropic-messages/index.ts";
import { geminiEmbed } from "./endpoints/gemini-embed.ts";
import { geminiCountTokens, geminiGenerate } from "./gemini-generate/index.ts";
import { openaiAudio } from "./endpoints/openai-audio.ts";
import { openaiChat } from "./openai-chat/index.ts";
import { openaiCompletions } from "./endpoints/openai-completions.ts";
import { openaiEmbeddings } from "./endpoints/openai-embeddings.ts";
import { openaiImages } from "./endpoints/openai-images.ts";
import { openaiModerations } from "./endpoints/openai-moderations.ts";
import { openaiRealtime } from "./endpoints/openai-realtime.ts";
import { openaiCompaction, openaiInputTokens, openaiResponses } from "./openai-responses/index.ts";
import { rerank } from "./endpoints/rerank.ts";
import type { Dialect, DialectId } from "./core/types.ts";

/** Every protocol that is not private to one vendor. */
export const dialects: readonly Dialect[] = [
  anthropicCountTokens,
  anthropicMessages,
  geminiCountTokens,
  geminiEmbed,
  geminiGenerate,
  openaiAudio,
  openaiChat,
  openaiCompaction,
  openaiCompletions,
  openaiEmbeddings,
  openaiImages,
  openaiInputTokens,
  openaiModerations,
  openaiRealtime,
  openaiResponses,
  rerank,
];

const byId = new Map<DialectId, Dialect>(dialects.map((dialect) => [dialect.id, dialect]));

/** Returns undefined for private protocols. */
export function dialectById(id: DialectId): Dialect | undefined {
  return byId.get(id);
}
