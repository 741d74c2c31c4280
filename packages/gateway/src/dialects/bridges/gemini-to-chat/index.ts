import type { Bridge } from "../../core/bridge.ts";
import { statelessBridge } from "../../core/stateless-bridge.ts";
import { SourcedStream, withSources } from "../parts/content/sources.ts";
import { fromChat } from "./answer.ts";
import { toChat } from "./request.ts";
import { ChunksToCandidates } from "./stream.ts";

/** Gemini clients on upstreams that speak chat completions. */
export const geminiToChat: Bridge = statelessBridge({
  client: "gemini-generate",
  upstream: "openai-chat",
  request: toChat,
  response: (body, context) => fromChat(withSources(body), context),
  stream: (context) => new SourcedStream(new ChunksToCandidates(context)),
});
