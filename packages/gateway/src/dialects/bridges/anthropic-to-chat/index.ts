import type { Bridge } from "../../types.ts";
import { fromChat } from "./answer.ts";
import { toChat } from "./request.ts";
import { ChunksToMessage } from "./stream.ts";

/** Anthropic clients on upstreams that speak chat completions. */
export const anthropicToChat: Bridge = {
  client: "anthropic-messages",
  upstream: "openai-chat",
  request: toChat,
  response: fromChat,
  stream: (context) => new ChunksToMessage(context),
};
