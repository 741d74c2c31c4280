import { objects } from "../../core/read.ts";
import type { JsonObject } from "../../core/types.ts";

/**
 * Joins neighbouring messages of one role, which are one turn in this protocol. They must be joined if the turn calls
 * tools or holds their results: chat servers refuse anything between calls and the last result.
 */
export function joinedTurns(messages: readonly JsonObject[]): JsonObject[] {
  const turns: JsonObject[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (last !== undefined && last["role"] === message["role"] && [last, message].some(holdsTools))
      turns[turns.length - 1] = { ...last, content: [...listBlocks(last), ...listBlocks(message)] };
    else turns.push(message);
  }
  return turns;
}

function holdsTools(message: JsonObject): boolean {
  return objects(message, "content").some(({ type }) => type === "tool_use" || type === "tool_result");
}

function listBlocks(message: JsonObject): readonly JsonObject[] {
  const content = message["content"];
  return typeof content === "string" ? [{ type: "text", text: content }] : objects(message, "content");
}
