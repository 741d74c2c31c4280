import type { Bridge, BridgeContext, StreamBridge } from "../../../dialects/core/bridge.ts";
import { statelessBridge } from "../../../dialects/core/stateless-bridge.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { compact, count, isObject, object, text } from "../../../dialects/core/read.ts";
import { parseObject } from "../../../lib/text/json.ts";
import { checkChatFields, checkChatParts } from "../../core/private/chat-checks.ts";
import { chatMessages, type ChatMessage } from "../../core/private/chat-reader.ts";
import { chatAnswer, ChunkWriter, type ChatUsage } from "../../core/private/chat-writer.ts";
import { needed } from "../../core/private/needed.ts";

const HEADINGS: Readonly<Record<ChatMessage["role"], string>> = {
  system: "SYSTEM",
  assistant: "ASSISTANT",
  user: "USER",
  tool: "USER",
};

/** https://docs.dify.ai: the history is part of the query, unless the client names a conversation. */
export const chatBridge: Bridge = statelessBridge({
  client: "openai-chat",
  upstream: "private:dify-chat",
  request(body, context) {
    checkChatFields(body, context, ["user", "metadata", "inputs", "conversation_id"]);
    checkChatParts(body, context, true);
    const metadata = object(body, "metadata");
    const conversation = text(body, "conversation_id") ?? text(metadata, "conversation_id");
    const messages = chatMessages(body);
    const asked = conversation === undefined ? messages : messages.slice(-1);
    const files = asked.flatMap((message) => message.images.map(toFile));
    return compact({
      inputs: object(body, "inputs") ?? readInputs(metadata),
      query:
        conversation === undefined
          ? asked.map((message) => `${HEADINGS[message.role]}: \n${message.text}\n`).join("")
          : (asked[0]?.text ?? ""),
      response_mode: body["stream"] === true ? "streaming" : "blocking",
      user: text(body, "user") ?? "api-user",
      auto_generate_name: false,
      conversation_id: conversation,
      files: files.length === 0 ? undefined : files,
    });
  },
  response(body, context) {
    return chatAnswer(
      {
        id: text(body, "conversation_id"),
        created: count(body, "created_at"),
        content: needed(text(body, "answer")),
        finish: "stop",
        usage: difyUsage(body),
      },
      context,
    );
  },
  stream: createStreamBridge,
});

/** Builds a file. The exchange uploads inline images before the call; the vendor itself reads web addresses. */
function toFile(url: string): JsonObject {
  return url.startsWith("data:")
    ? { type: "image", data_url: url }
    : { type: "image", transfer_method: "remote_url", url };
}

function readInputs(metadata: JsonObject | undefined): JsonObject {
  const given = metadata?.["inputs"];
  if (isObject(given)) return given;
  return (typeof given === "string" ? parseObject(given) : undefined) ?? {};
}

function difyUsage(body: JsonObject): ChatUsage | undefined {
  const usage = object(object(body, "metadata"), "usage");
  const input = count(usage, "prompt_tokens");
  const output = count(usage, "completion_tokens");
  return input === undefined || output === undefined || input + output === 0 ? undefined : { input, output };
}

function createStreamBridge(context: BridgeContext): StreamBridge {
  const writer = new ChunkWriter(context, { hasOwnRoleChunk: false });
  const image = (data: JsonObject) =>
    text(data, "type") === "image" && text(data, "url")
      ? writer.delta({ content: `![image](${text(data, "url")})` })
      : [];
  const step = (data: JsonObject) => {
    switch (text(data, "event")) {
      case "message":
      case "agent_message": {
        writer.name({ id: text(data, "conversation_id"), created: count(data, "created_at") });
        const said = text(data, "answer") ?? "";
        return said === "" ? [] : writer.delta({ content: said });
      }
      case "message_file":
        return image(data);
      case "message_replace":
        return writer.end("content_filter", difyUsage(data));
      case "message_end":
        writer.name({ id: text(data, "conversation_id") });
        return writer.end("stop", difyUsage(data));
      case "error":
        return writer.fail({
          message: text(data, "message") ?? "The upstream failed.",
          type: "dify_error",
          code: text(data, "code"),
          status: count(data, "status"),
        });
      default:
        return [];
    }
  };
  return { event: ({ data }) => (data && !writer.isEnded ? step(data) : []), end: () => [] };
}
