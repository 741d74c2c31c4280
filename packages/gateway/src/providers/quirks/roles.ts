import type { JsonObject } from "../../dialects/types.ts";
import { isObject } from "../../lib/json.ts";

/** For servers that know only `system`. */
export function developerToSystem(body: JsonObject): JsonObject {
  const messages = body["messages"];
  const isDeveloper = (message: unknown) => isObject(message) && message["role"] === "developer";
  if (!Array.isArray(messages) || !messages.some(isDeveloper)) return body;
  return { ...body, messages: messages.map((message) => (isObject(message) && isDeveloper(message) ? { ...message, role: "system" } : message)) };
}
