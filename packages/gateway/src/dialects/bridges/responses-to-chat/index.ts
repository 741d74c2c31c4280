import type { Bridge } from "../../core/bridge.ts";
import { SourcedStream, withSources } from "../parts/content/sources.ts";
import { fromChat } from "./answer.ts";
import { toChat } from "./request.ts";
import { ChunksToResponse } from "./stream.ts";

/** Responses clients on upstreams that speak chat completions. */
export const responsesToChat: Bridge = {
  client: "openai-responses",
  upstream: "openai-chat",
  request: toChat,
  response: (body, context) => fromChat(withSources(body), context),
  stream: (context) => new SourcedStream(new ChunksToResponse(context)),
};
