import type { Bridge, BridgeContext, StreamBridge } from "../../../dialects/core/bridge.ts";
import { statelessBridge } from "../../../dialects/core/stateless-bridge.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { count, object, objects, text } from "../../../dialects/core/read.ts";
import { codeText } from "../../core/errors/error-body.ts";
import { checkChatFields, checkChatParts } from "../../core/private/chat-checks.ts";
import { instructedMessages } from "../../core/private/chat-reader.ts";
import { chatAnswer, ChunkWriter, type ChatUsage } from "../../core/private/chat-writer.ts";

/** The error if the bot waits for the results of its own plug-ins, which clients of this protocol do not know. */
export const NO_ACTION = "The bot requests an action that this protocol cannot carry.";

/** https://www.coze.cn/open/docs/developer_guides/chat_v3 */
export const chatBridge: Bridge = statelessBridge({
  client: "openai-chat",
  upstream: "private:coze-chat",
  request(body, context) {
    checkChatFields(body, context, ["user", "response_format"]);
    checkChatParts(body, context, false);
    const messages = instructedMessages(body).filter((message) => message.text !== "");
    return {
      bot_id: "",
      user_id: text(body, "user") ?? "api-user",
      stream: body["stream"] === true,
      additional_messages: messages.map(({ role, text: content }) => ({
        role: role === "assistant" ? "assistant" : "user",
        content,
        content_type: "text",
      })),
    };
  },
  /** The exchange answers with the finished chat and its messages. */
  response(body, context) {
    const chat = object(body, "chat");
    const answers = objects(body, "messages").filter((message) => message["type"] === "answer");
    return chatAnswer(
      {
        id: text(chat, "id"),
        content: answers.map((message) => text(message, "content") ?? "").join(""),
        reasoning: answers.map((message) => text(message, "reasoning_content") ?? "").join(""),
        finish: "stop",
        usage: cozeUsage(object(chat, "usage")),
      },
      context,
    );
  },
  stream: createStreamBridge,
});

function cozeUsage(usage: JsonObject | undefined): ChatUsage | undefined {
  const input = count(usage, "input_count");
  const output = count(usage, "output_count");
  return input === undefined || output === undefined ? undefined : { input, output };
}

function createStreamBridge(context: BridgeContext): StreamBridge {
  const writer = new ChunkWriter(context, { hasOwnRoleChunk: false });
  const failure = (error: JsonObject | undefined) =>
    writer.fail({
      message: text(error, "msg") ?? "The upstream failed.",
      type: "coze_error",
      code: codeText(error?.["code"]),
    });
  const said = (data: JsonObject) =>
    ["reasoning_content", "content"].flatMap((name) => {
      const piece = text(data, name) ?? "";
      return piece === "" ? [] : writer.delta({ [name]: piece });
    });
  return {
    event({ event, data }) {
      if (!data || writer.isEnded) return [];
      switch (event) {
        case "conversation.chat.created":
          writer.name({ id: text(data, "id"), created: count(data, "created_at") });
          return [];
        case "conversation.message.delta":
          return data["type"] === "answer" ? said(data) : [];
        case "conversation.chat.completed":
          return writer.end("stop", cozeUsage(object(data, "usage")));
        case "conversation.chat.failed":
          return failure(object(data, "last_error"));
        case "conversation.chat.requires_action":
          return failure({ msg: NO_ACTION });
        case "error":
          return failure(data);
        default:
          return [];
      }
    },
    end: () => [],
  };
}
