import type { Bridge, BridgeContext, JsonObject, StreamBridge } from "../../dialects/types.ts";
import { count, object, objects, text } from "../../dialects/read.ts";
import { chatAnswer, ChunkWriter, toolCall, type ChatUsage } from "../private/chat-writer.ts";
import { cohereRequest } from "./chat-request.ts";

/** https://docs.cohere.com/reference/chat (v2) */
export const chatBridge: Bridge = {
  client: "openai-chat",
  upstream: "private:cohere-chat",
  request: cohereRequest,
  response(body, context) {
    const message = object(body, "message");
    const parts = objects(message, "content");
    const joined = (type: string, member: string) => parts.map((part) => (part["type"] === type ? (text(part, member) ?? "") : "")).join("");
    const calls = objects(message, "tool_calls").map(callOf);
    return chatAnswer(
      {
        id: text(body, "id"),
        content: joined("text", "text"),
        reasoning: joined("thinking", "thinking") + (text(message, "tool_plan") ?? ""),
        toolCalls: calls,
        finish: finishOf(text(body, "finish_reason")),
        usage: usageOf(object(body, "usage")),
      },
      context,
    );
  },
  stream: streamOf,
};

function callOf(call: JsonObject): JsonObject {
  const named = object(call, "function");
  return toolCall(text(call, "id") ?? "", text(named, "name") ?? "", text(named, "arguments") ?? "");
}

function finishOf(reason: string | undefined): string {
  if (reason === "MAX_TOKENS") return "length";
  return reason === "TOOL_CALL" ? "tool_calls" : "stop";
}

/** What is billed is the usage; some answers tell only the tokens. */
function usageOf(usage: JsonObject | undefined): ChatUsage | undefined {
  const counted = object(usage, "billed_units") ?? object(usage, "tokens");
  const input = count(counted, "input_tokens");
  const output = count(counted, "output_tokens");
  return input === undefined || output === undefined ? undefined : { input, output };
}

function streamOf(context: BridgeContext): StreamBridge {
  const writer = new ChunkWriter(context, { hasOwnRoleChunk: true });
  const step = (data: JsonObject) => {
    const delta = object(data, "delta");
    const message = object(delta, "message");
    const content = object(message, "content");
    switch (text(data, "type")) {
      case "message-start":
        writer.name({ id: text(data, "id") });
        return writer.start();
      case "content-start":
      case "content-delta":
        return [...said("content", text(content, "text")), ...said("reasoning_content", text(content, "thinking"))];
      case "tool-plan-delta":
        return said("reasoning_content", text(message, "tool_plan"));
      case "tool-call-start": {
        const call = object(message, "tool_calls");
        const named = object(call, "function");
        return writer.toolStart(text(call, "id") ?? "", text(named, "name") ?? "", text(named, "arguments"));
      }
      case "tool-call-delta":
        return writer.toolArguments(text(object(object(message, "tool_calls"), "function"), "arguments") ?? "");
      case "message-end":
        return ended(delta);
      default:
        return object(data, "error") ? writer.fail({ message: text(object(data, "error"), "message") ?? "The upstream failed." }) : [];
    }
  };
  const said = (member: string, value: string | undefined) => (value ? writer.delta({ [member]: value }) : []);
  const ended = (delta: JsonObject | undefined) => {
    const reason = text(delta, "finish_reason");
    const failure = text(delta, "error");
    if (reason === "ERROR" || reason === "TIMEOUT" || failure !== undefined) return writer.fail({ message: failure ?? "The upstream failed." });
    return writer.end(finishOf(reason), usageOf(object(delta, "usage")));
  };
  return { event: ({ data }) => (data && !writer.isEnded ? step(data) : []), end: () => [] };
}
