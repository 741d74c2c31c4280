import type { Bridge, BridgeContext, StreamBridge } from "../../../dialects/core/bridge.ts";
import { statelessBridge } from "../../../dialects/core/stateless-bridge.ts";
import type { JsonObject, StreamEvent } from "../../../dialects/core/types.ts";
import { count, object, objects, text } from "../../../dialects/core/read.ts";
import { chatAnswer, ChunkWriter, toolCall, type ChatUsage } from "../../core/private/chat-writer.ts";
import { needed } from "../../core/private/needed.ts";
import { cohereRequest } from "./chat-request.ts";
import { listAnnotations } from "./citations.ts";

/** https://docs.cohere.com/reference/chat (v2) */
export const chatBridge: Bridge = statelessBridge({
  client: "openai-chat",
  upstream: "private:cohere-chat",
  toolNames: { most: 64, forbidden: /\W/g, first: /^[a-zA-Z_]/ },
  request: cohereRequest,
  response(body, context) {
    const message = needed(object(body, "message"));
    const parts = objects(message, "content");
    const joined = (type: string, member: string) =>
      parts.map((part) => (part["type"] === type ? (text(part, member) ?? "") : "")).join("");
    const calls = objects(message, "tool_calls").map(toToolCall);
    return chatAnswer(
      {
        id: text(body, "id"),
        content: joined("text", "text"),
        reasoning: joined("thinking", "thinking") + (text(message, "tool_plan") ?? ""),
        toolCalls: calls,
        annotations: listAnnotations(objects(message, "citations")),
        finish: toFinishReason(text(body, "finish_reason")),
        usage: cohereUsage(object(body, "usage")),
      },
      context,
    );
  },
  stream: createStreamBridge,
});

function toToolCall(call: JsonObject): JsonObject {
  const named = object(call, "function");
  return toolCall(text(call, "id") ?? "", text(named, "name") ?? "", text(named, "arguments") ?? "");
}

function toFinishReason(reason: string | undefined): string {
  if (reason === "MAX_TOKENS") return "length";
  return reason === "TOOL_CALL" ? "tool_calls" : "stop";
}

/** Reads the billed usage; some answers report only tokens. */
function cohereUsage(usage: JsonObject | undefined): ChatUsage | undefined {
  const counted = object(usage, "billed_units") ?? object(usage, "tokens");
  const input = count(counted, "input_tokens");
  const output = count(counted, "output_tokens");
  return input === undefined || output === undefined ? undefined : { input, output };
}

function createStreamBridge(context: BridgeContext): StreamBridge {
  const writer = new ChunkWriter(context, { hasOwnRoleChunk: true });
  const readMessage = (data: JsonObject) => object(object(data, "delta"), "message");
  const said = (member: string, value: string | undefined) => (value ? writer.delta({ [member]: value }) : []);
  const content = (data: JsonObject) => {
    const part = object(readMessage(data), "content");
    return [...said("content", text(part, "text")), ...said("reasoning_content", text(part, "thinking"))];
  };
  const steps: Readonly<Record<string, (data: JsonObject) => StreamEvent[]>> = {
    "message-start"(data) {
      writer.name({ id: text(data, "id") });
      return writer.start();
    },
    "content-start": content,
    "content-delta": content,
    "tool-plan-delta": (data) => said("reasoning_content", text(readMessage(data), "tool_plan")),
    "tool-call-start"(data) {
      const call = object(readMessage(data), "tool_calls");
      const named = object(call, "function");
      return writer.toolStart(text(call, "id") ?? "", text(named, "name") ?? "", text(named, "arguments"));
    },
    "tool-call-delta": (data) =>
      writer.toolArguments(text(object(object(readMessage(data), "tool_calls"), "function"), "arguments") ?? ""),
    "citation-start"(data) {
      const citation = object(readMessage(data), "citations");
      const annotations = citation ? listAnnotations([citation]) : [];
      return annotations.length === 0 ? [] : writer.delta({ annotations });
    },
    "message-end": (data) => ended(object(data, "delta"), writer),
  };
  return {
    event: ({ data }) => (data && !writer.isEnded ? (steps[text(data, "type") ?? ""]?.(data) ?? []) : []),
    end: () => [],
  };
}

function ended(delta: JsonObject | undefined, writer: ChunkWriter): StreamEvent[] {
  const reason = text(delta, "finish_reason");
  const failure = text(delta, "error");
  if (failure !== undefined || reason === "ERROR" || reason === "TIMEOUT") {
    return writer.fail({ message: failure ?? "The upstream could not finish the answer." });
  }
  return writer.end(toFinishReason(reason), cohereUsage(object(delta, "usage")));
}
