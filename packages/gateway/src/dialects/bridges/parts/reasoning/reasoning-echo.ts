// Some open models require their own reasoning back while they work with tools, under the name that they use for it.
// Other chat servers refuse members that they do not know, so it is sent only to models that are known to read it.
import { anyText, objects } from "../../../core/read.ts";
import type { JsonObject } from "../../../core/types.ts";

const READERS = /deepseek|kimi|moonshot|glm-[4-9]|minimax-m|mimo|qwen3.*thinking/i;

export function readsReasoning(model: string): boolean {
  return READERS.test(model) && !model.includes("distill");
}

/** Adds `reasoning_content` next to tool calls, from the thinking that a client of another protocol sent back. */
export function echoReasoning(body: JsonObject): JsonObject {
  if (!objects(body, "messages").some((message) => message["fw_thinking"] !== undefined)) return body;
  return { ...body, messages: objects(body, "messages").map(withReasoning) };
}

function withReasoning(message: JsonObject): JsonObject {
  const { fw_thinking, ...rest } = message;
  if (fw_thinking === undefined || objects(message, "tool_calls").length === 0) return message;
  const reasoning = objects(message, "fw_thinking")
    .map((block) => anyText(block, "thinking"))
    .join("");
  return reasoning === "" ? message : { ...rest, reasoning_content: reasoning };
}
