// Readers of the message or delta of a chat answer, for all forms in which servers write them.
import { anyText, object, objects } from "../../../core/read.ts";
import type { JsonObject } from "../../../core/types.ts";

/** Returns the text of a message: words, and images as markdown. */
export function formatMessage(message: JsonObject | undefined): string {
  const words = readWords(message);
  return message?.["images"] === undefined ? words : [words, ...formatImages(message)].join("");
}

/** Returns the words of a message, from one text or a list of parts with texts. */
export function readWords(message: JsonObject | undefined): string {
  const content = message?.["content"];
  if (typeof content === "string") return content;
  return Array.isArray(content) ? joinTexts(objects(message, "content")) : "";
}

/** Returns the images next to the words, each as markdown, because not every protocol has a place for them. */
export function formatImages(message: JsonObject | undefined): string[] {
  return objects(message, "images").flatMap((image) => {
    const url = anyText(object(image, "image_url"), "url");
    return url === "" ? [] : [`![image](${url})`];
  });
}

/** Returns the thinking, from one of two members (the other may be present and empty) or from parts of the content. */
export function readThought(message: JsonObject | undefined): string {
  const thought = anyText(message, "reasoning_content") || anyText(message, "reasoning");
  if (thought !== "" || !Array.isArray(message?.["content"])) return thought;
  const parts = objects(message, "content").filter((part) => part["type"] === "thinking");
  return parts.map((part) => anyText(part, "thinking") || joinTexts(objects(part, "thinking"))).join("");
}

function joinTexts(parts: readonly JsonObject[]): string {
  return parts.map((part) => anyText(part, "text")).join("");
}
