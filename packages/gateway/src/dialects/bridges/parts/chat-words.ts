// What the message or delta of a chat answer says, in the forms in which servers write it.
import { anyText, objects } from "../../read.ts";
import type { JsonObject } from "../../types.ts";

/** The words: one text, or a list of parts with texts. */
export function writtenOf(message: JsonObject | undefined): string {
  const content = message?.["content"];
  if (typeof content === "string") return content;
  return Array.isArray(content) ? textsOf(objects(message, "content")) : "";
}

/** The thinking: under one of two names, of which the other may be there and empty, or in parts of the content. */
export function thoughtOf(message: JsonObject | undefined): string {
  const thought = anyText(message, "reasoning_content") || anyText(message, "reasoning");
  if (thought !== "" || !Array.isArray(message?.["content"])) return thought;
  const parts = objects(message, "content").filter((part) => part["type"] === "thinking");
  return parts.map((part) => anyText(part, "thinking") || textsOf(objects(part, "thinking"))).join("");
}

function textsOf(parts: readonly JsonObject[]): string {
  return parts.map((part) => anyText(part, "text")).join("");
}
