import { withCallIdsFor } from "../../core/chat-calls.ts";
import type { Bridge } from "../../core/bridge.ts";
import { statelessBridge } from "../../core/stateless-bridge.ts";
import { fromResponses } from "./answer.ts";
import { toResponses } from "./request.ts";
import { ResponseToChunks } from "./stream.ts";

/** Chat clients on Responses: OpenAI's reasoning models take function tools only there. */
export const chatToResponses: Bridge = statelessBridge({
  client: "openai-chat",
  upstream: "openai-responses",
  hosted: ["web_search", "code_execution", "mcp"],
  request: (body, context) => toResponses(withCallIdsFor(context.upstreamModel, body), context),
  response: fromResponses,
  stream: (context) => new ResponseToChunks(context),
});
