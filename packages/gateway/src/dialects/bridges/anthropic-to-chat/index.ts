import type { Bridge } from "../../core/bridge.ts";
import { SourcedStream, withSources } from "../parts/content/sources.ts";
import { fromChat } from "./answer.ts";
import { toChat } from "./request.ts";
import { ChunksToMessage } from "./stream.ts";

/** Anthropic clients on upstreams that speak chat completions. */
export const anthropicToChat: Bridge = {
  client: "anthropic-messages",
  upstream: "openai-chat",
  request: toChat,
  response: (body, context) => fromChat(withSources(body), context),
  stream: (context) => new SourcedStream(new ChunksToMessage(context)),
};
