import type { Bridge } from "../../core/bridge.ts";
import { statelessBridge } from "../../core/stateless-bridge.ts";
import { fromAnthropic } from "./answer.ts";
import { toAnthropic } from "./request.ts";
import { MessageToChunks } from "./stream.ts";

/** Chat clients on upstreams that speak Anthropic's messages. */
export const chatToAnthropic: Bridge = statelessBridge({
  client: "openai-chat",
  upstream: "anthropic-messages",
  hosted: ["web_search", "web_fetch", "code_execution", "mcp"],
  request: toAnthropic,
  response: fromAnthropic,
  stream: (context) => new MessageToChunks(context),
});
