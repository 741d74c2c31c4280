import { objects } from "../../../core/read.ts";
import type { JsonObject } from "../../../core/types.ts";

/** Turns instructions without a conversation into a user turn: upstreams with separate instructions require a turn. */
export function withUserTurn(body: JsonObject): JsonObject {
  const messages = objects(body, "messages");
  const isAlone = messages.every(({ role }) => role === "system" || role === "developer");
  return isAlone ? { ...body, messages: messages.map((message) => ({ ...message, role: "user" })) } : body;
}
