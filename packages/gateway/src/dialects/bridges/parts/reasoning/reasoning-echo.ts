// Some open models want their own reasoning back while they work with tools, under the name that they gave it. What
// other chat servers do not know they refuse, so it is sent to models that are known to read it only.
import { anyText, objects } from "../../../core/read.ts";
import type { JsonObject } from "../../../core/types.ts";

const READERS = /deepseek|kimi|moonshot|glm-[4-9]|minimax-m|mimo|qwen3.*thinking/i;

export function readsReasoning(model: string): boolean {
  return READERS.test(model) && !model.includes("distill");
}

/** `reasoning_content` next to tool calls, from the thinking that a client of another protocol sent back. */
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
