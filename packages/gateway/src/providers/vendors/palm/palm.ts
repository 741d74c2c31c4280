import type { Bridge } from "../../../dialects/core/bridge.ts";
import { compact, list, objects, text } from "../../../dialects/core/read.ts";
import { readGoogle } from "../google/errors.ts";
import { chatAnswer } from "../../core/private/chat-writer.ts";
import { needed } from "../../core/private/needed.ts";
import { checkChatFields, checkChatParts } from "../../core/private/chat-checks.ts";
import { chatMessages, systemText } from "../../core/private/chat-reader.ts";
import type { ProviderAdapter } from "../../core/types.ts";
import { unaryBridge } from "../../core/unary-bridge.ts";

const chatBridge: Bridge = unaryBridge({
  client: "openai-chat",
  upstream: "private:palm-message",
  request(body, context) {
    checkChatFields(body, context, ["temperature", "top_p", "top_k", "n"]);
    checkChatParts(body, context, false);
    const messages = chatMessages(body);
    const turns = messages.filter((message) => message.role !== "system");
    return compact({
      prompt: compact({
        context: systemText(messages) || undefined,
        messages: turns.map((message) => ({ author: message.role === "assistant" ? "1" : "0", content: message.text })),
      }),
      temperature: body["temperature"],
      candidateCount: body["n"],
      topP: body["top_p"],
      topK: body["top_k"],
    });
  },
  response(body, context) {
    const [candidate] = objects(body, "candidates");
    const isFiltered = !candidate && list(body, "filters").length > 0;
    return chatAnswer(
      {
        content: isFiltered ? "" : needed(text(candidate, "content")),
        finish: isFiltered ? "content_filter" : "stop",
        usage: undefined,
      },
      context,
    );
  },
});

/** The vendor switched it off; it remains so that imported channels load. */
export const palm: ProviderAdapter = {
  type: 11,
  id: "palm",
  label: "Google PaLM2",
  baseUrl: "https://generativelanguage.googleapis.com",
  speaks: [
    { operation: "chat", dialect: "private:palm-message", path: "/v1beta2/models/chat-bison-001:generateMessage" },
  ],
  authorize(call, _channel, { key }) {
    call.headers["x-goog-api-key"] = key;
  },
  models: ["PaLM-2"],
  ownedBy: "google palm",
  streamUsage: false,
  bridges: [chatBridge],
  classify: readGoogle,
  retired: true,
};
