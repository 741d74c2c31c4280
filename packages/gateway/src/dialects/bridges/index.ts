import type { Bridge } from "../core/bridge.ts";
import { anthropicToChat } from "./anthropic-to-chat/index.ts";
import { chatToAnthropic } from "./chat-to-anthropic/index.ts";
import { chatToGemini } from "./chat-to-gemini/index.ts";
import { chatToResponses } from "./chat-to-responses/index.ts";
import { completionsToChat } from "./completions-to-chat.ts";
import { embeddingsToGemini, geminiToEmbeddings } from "./embeddings.ts";
import { geminiToChat } from "./gemini-to-chat/index.ts";
import { responsesToChat } from "./responses-to-chat/index.ts";

/** All general conversions; conversions of private protocols are in their providers. */
export const bridges: readonly Bridge[] = [
  anthropicToChat,
  chatToAnthropic,
  chatToGemini,
  chatToResponses,
  completionsToChat,
  embeddingsToGemini,
  geminiToChat,
  geminiToEmbeddings,
  responsesToChat,
];
