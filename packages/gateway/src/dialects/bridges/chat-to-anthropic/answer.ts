import { compact, object, objects, text } from "../../core/read.ts";
import type { BridgeContext } from "../../core/bridge.ts";
import type { JsonObject } from "../../core/types.ts";
import { readAnthropicUsage } from "../../core/usage.ts";
import { writeRunCode } from "./hosted-answer.ts";
import { chatAnswer, chatMessage, toolCall } from "../parts/answer/chat-answer.ts";
import { MessageRuns } from "../parts/tools/hosted-runs.ts";
import { convertAnthropicFinish } from "../parts/answer/finish.ts";

/** Converts a message to a chat answer. */
export function fromAnthropic(body: JsonObject, context: BridgeContext): JsonObject {
  const blocks = objects(body, "content");
  const toolCalls = blocks.filter((block) => block["type"] === "tool_use").map(toToolCall);
  const message = chatMessage({
    content: blocks.map((block) => saidIn(block, context)).join(""),
    reasoning: blocks.map((block) => (block["type"] === "thinking" ? (text(block, "thinking") ?? "") : "")).join(""),
    toolCalls,
    extra: {
      ...runMembers(blocks, context),
      ...listAnnotations(blocks, context),
      ...thinkingMembers(blocks, toolCalls.length > 0),
    },
  });
  const choice = compact({
    message,
    finish_reason: convertAnthropicFinish(text(body, "stop_reason")),
    fw_stop_sequence: body["stop_sequence"] ?? undefined,
  });
  return chatAnswer(
    {
      head: { id: text(body, "id"), model: text(body, "model") },
      choices: [choice],
      usage: readAnthropicUsage(object(body, "usage")),
    },
    context,
  );
}

function runMembers(blocks: readonly JsonObject[], context: BridgeContext): JsonObject {
  const reader = new MessageRuns(context);
  const fw_runs = blocks.flatMap((block) => reader.read(block));
  fw_runs.push(...reader.rest());
  return fw_runs.length === 0 ? {} : { fw_runs };
}

function saidIn(block: JsonObject, context: BridgeContext): string {
  return block["type"] === "text" ? (text(block, "text") ?? "") : writeRunCode(block, context);
}

function toToolCall(block: JsonObject): JsonObject {
  return toolCall(text(block, "id") ?? "", text(block, "name") ?? "", JSON.stringify(block["input"] ?? {}));
}

/**
 * Returns thinking with its signature, for other bridges. Chat clients get it next to tool calls, because the upstream
 * requires it again there.
 */
function thinkingMembers(blocks: readonly JsonObject[], hasTools: boolean): JsonObject {
  const thinking = blocks.filter((block) => block["type"] === "thinking" || block["type"] === "redacted_thinking");
  if (thinking.length === 0) return {};
  return { fw_thinking: thinking, ...(hasTools && { thinking_blocks: thinking }) };
}

/** Returns the citations that have an address, with the range of the text that they support. */
function listAnnotations(blocks: readonly JsonObject[], context: BridgeContext): JsonObject {
  const annotations: JsonObject[] = [];
  let at = 0;
  for (const block of blocks) {
    const end = at + saidIn(block, context).length;
    for (const citation of objects(block, "citations")) annotations.push(...toAnnotations(citation, at, end));
    at = end;
  }
  return annotations.length === 0 ? {} : { annotations };
}

export function toAnnotations(citation: JsonObject, start: number, end: number): JsonObject[] {
  const url = text(citation, "url");
  if (url === undefined) return [];
  const title = text(citation, "title") ?? "";
  return [{ type: "url_citation", url_citation: { start_index: start, end_index: end, title, url } }];
}
