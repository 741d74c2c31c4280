import { objects } from "../../../core/read.ts";
import type { JsonObject } from "../../../core/types.ts";

/** Instructions without a conversation: upstreams that keep them apart want someone to say something. */
export function withUserTurn(body: JsonObject): JsonObject {
  const messages = objects(body, "messages");
  const isAlone = messages.every(({ role }) => role === "system" || role === "developer");
  return isAlone ? { ...body, messages: messages.map((message) => ({ ...message, role: "user" })) } : body;
}
