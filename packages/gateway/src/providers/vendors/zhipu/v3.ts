import { parseJson } from "../../../lib/text/json.ts";
import type { Bridge, BridgeContext, StreamBridge } from "../../../dialects/core/bridge.ts";
import { statelessBridge } from "../../../dialects/core/stateless-bridge.ts";
import type { JsonObject, StreamEvent } from "../../../dialects/core/types.ts";
import { compact, count, object, objects, text } from "../../../dialects/core/read.ts";
import { chatAnswer, ChunkWriter, type ChatUsage } from "../../core/private/chat-writer.ts";
import { needed } from "../../core/private/needed.ts";
import { checkChatFields, checkChatParts } from "../../core/private/chat-checks.ts";
import { fitNumbers, instructedMessages } from "../../core/private/chat-reader.ts";

/**
 * The vendor's first API (`chatglm_*`): the request is a list of prompts, the answer is quoted text or raw text events.
 */
export const v3Bridge: Bridge = statelessBridge({
  client: "openai-chat",
  upstream: "private:zhipu-v3",
  request(body, context) {
    checkChatFields(body, context, ["temperature", "top_p", "request_id", "response_format"]);
    checkChatParts(body, context, false);
    const { temperature, top_p, request_id } = fitNumbers(body, { top_p: [0, 0.99] }, context);
    return compact({ prompt: buildPrompt(body), temperature, top_p, request_id });
  },
  response(body, context) {
    const data = needed(object(body, "data"));
    const parts = objects(data, "choices").map((choice) => unquoted(text(choice, "content") ?? ""));
    return chatAnswer(
      { id: text(data, "task_id"), content: parts.join(""), finish: "stop", usage: zhipuUsage(object(data, "usage")) },
      context,
    );
  },
  stream: (context) => createStreamBridge(context),
});

/** Builds the list of prompts. A system message is followed by a user turn, because turns must alternate. */
function buildPrompt(body: JsonObject): JsonObject[] {
  return instructedMessages(body).flatMap((message) => {
    const content = message.text;
    if (message.role === "system")
      return [
        { role: "system", content },
        { role: "user", content: "Okay" },
      ];
    return [{ role: message.role === "assistant" ? "assistant" : "user", content }];
  });
}

function createStreamBridge(context: BridgeContext): StreamBridge {
  const writer = new ChunkWriter(context, { hasOwnRoleChunk: false });
  return {
    event({ data }: StreamEvent) {
      if (!data || writer.isEnded) return [];
      const meta = object(data, "meta");
      writer.name({ id: text(data, "id") ?? text(meta, "task_id") });
      const said = text(data, "text") ?? "";
      switch (text(data, "event")) {
        case "error":
          return writer.fail({
            message: said === "" ? "The upstream failed." : said,
            type: "zhipu_error",
            code: "500",
          });
        case "finish":
          return [
            ...(said === "" ? [] : writer.delta({ content: said })),
            ...writer.end("stop", zhipuUsage(object(meta, "usage"))),
          ];
        case "interrupted":
          return writer.end("content_filter", zhipuUsage(object(meta, "usage")));
        default:
          return said === "" ? [] : writer.delta({ content: said });
      }
    },
    end: () => [],
  };
}

/** Unquotes the text of a whole answer, which is a JSON string inside the string. */
function unquoted(content: string): string {
  if (!content.startsWith('"') || !content.endsWith('"')) return content;
  const value = parseJson(content);
  return typeof value === "string" ? value : content;
}

function zhipuUsage(usage: JsonObject | undefined): ChatUsage | undefined {
  const input = count(usage, "prompt_tokens");
  const output = count(usage, "completion_tokens");
  return input === undefined || output === undefined ? undefined : { input, output };
}
