import { anthropicCountTokens, anthropicMessages } from "./anthropic-messages/index.ts";
import { geminiEmbed } from "./gemini-embed.ts";
import { geminiCountTokens, geminiGenerate } from "./gemini-generate/index.ts";
import { openaiAudio } from "./openai-audio.ts";
import { openaiChat } from "./openai-chat/index.ts";
import { openaiCompletions } from "./openai-completions.ts";
import { openaiEmbeddings } from "./openai-embeddings.ts";
import { openaiImages } from "./openai-images.ts";
import { openaiModerations } from "./openai-moderations.ts";
import { openaiRealtime } from "./openai-realtime.ts";
import { openaiCompaction, openaiInputTokens, openaiResponses } from "./openai-responses/index.ts";
import { rerank } from "./rerank.ts";
import type { Dialect, DialectId } from "./types.ts";

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

/** Undefined for private protocols. */
export function dialectById(id: DialectId): Dialect | undefined {
  return byId.get(id);
}
