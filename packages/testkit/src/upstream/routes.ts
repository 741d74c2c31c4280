import { anthropicMessages } from "./formats/anthropic-messages.ts";
import { geminiGenerate } from "./formats/gemini-generate.ts";
import { openaiChat, openaiCompletions } from "./formats/openai-chat.ts";
import { openaiResponses } from "./formats/openai-responses.ts";
import * as single from "./formats/single.ts";
import type { Recorded } from "./recorded.ts";
import type { ChatFormat } from "./reply.ts";

export interface ChatRoute {
  readonly chat: ChatFormat;
  readonly isStream: boolean;
  readonly wantsUsage: boolean;
  /** Gemini without `alt=sse` streams the elements of one JSON array. */
  readonly isJsonArray: boolean;
}

export type Route = ChatRoute | { readonly single: single.SingleFormat; readonly errors: ChatFormat };

// The end of the path is matched, so that every vendor's prefix works: /v1, /openai/v1, /api/paas/v4, deployments.
const CHATS: readonly (readonly [RegExp, ChatFormat])[] = [
  [/\/chat\/completions$/, openaiChat],
  [/\/completions$/, openaiCompletions],
  [/\/responses$/, openaiResponses],
  [/\/messages$|:(?:streamRawPredict|rawPredict)$/, anthropicMessages],
  [/:(?:streamGenerateContent|generateContent)$/, geminiGenerate],
];

const SINGLES: readonly (readonly [RegExp, single.SingleFormat, ChatFormat])[] = [
  [/\/embeddings$/, single.embeddings, openaiChat],
  [/\/images\/(?:generations|edits|variations)$/, single.images, openaiChat],
  [/\/audio\/speech$/, single.speech, openaiChat],
  [/\/audio\/(?:transcriptions|translations)$/, single.transcription, openaiChat],
  [/\/moderations$/, single.moderations, openaiChat],
  [/\/rerank$/, single.rerank, openaiChat],
  [/\/messages\/count_tokens$/, single.anthropicCount, anthropicMessages],
  [/\/v1beta\/models$/, single.geminiModels, geminiGenerate],
  [/\/models$/, single.models, openaiChat],
  [/:countTokens$/, single.geminiCount, geminiGenerate],
  [/:embedContent$/, single.geminiEmbed, geminiGenerate],
  [/:batchEmbedContents$/, single.geminiBatchEmbed, geminiGenerate],
];

export function findRoute(request: Recorded): Route | undefined {
  const chat = CHATS.find(([pattern]) => pattern.test(request.path))?.[1];
  if (chat) return { chat, ...resolveChatShape(request, chat) };
  const found = SINGLES.find(([pattern]) => pattern.test(request.path));
  return found && { single: found[1], errors: found[2] };
}

function resolveChatShape(request: Recorded, chat: ChatFormat): Omit<ChatRoute, "chat"> {
  if (chat === geminiGenerate) {
    const isStream = request.path.endsWith(":streamGenerateContent");
    return { isStream, wantsUsage: true, isJsonArray: isStream && request.query.get("alt") !== "sse" };
  }
  const options = request.json?.["stream_options"] as { include_usage?: boolean } | null | undefined;
  const isStream = request.json?.["stream"] === true || request.path.endsWith(":streamRawPredict");
  return { isStream, wantsUsage: options?.include_usage === true, isJsonArray: false };
}
