import type { Bridge } from "../../types.ts";
import { fromChat } from "./answer.ts";
import { toChat } from "./request.ts";
import { ChunksToCandidates } from "./stream.ts";

/** Gemini clients on upstreams that speak chat completions. */
export const geminiToChat: Bridge = {
  client: "gemini-generate",
  upstream: "openai-chat",
  request: toChat,
  response: fromChat,
  stream: (context) => new ChunksToCandidates(context),
};
