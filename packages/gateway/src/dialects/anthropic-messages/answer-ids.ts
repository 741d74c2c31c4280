import { isSet, object, objects, text } from "../core/read.ts";
import type { AnswerIds, JsonObject } from "../core/types.ts";

/** The ids of a message, its container, and the files that were created in it. */
export const messageAnswerIds: AnswerIds = {
  marks: ["message_start", "container", "file_id"],
  mayName: (body) =>
    isSet(body["thread"]) ||
    isSet(body["container"]) ||
    objects(body, "tools").some((tool) => text(tool, "type")?.startsWith("code_execution") === true),
  read(answer) {
    switch (text(answer, "type")) {
      case "message":
        return listMessageIds(answer);
      case "message_start":
        return listMessageIds(object(answer, "message"));
      case "message_delta":
        return listIds(object(object(answer, "delta"), "container"), "id");
      case "content_block_start":
        return listBlockIds(object(answer, "content_block"));
      default:
        return [];
    }
  },
};

function listMessageIds(message: JsonObject | undefined): string[] {
  return [
    ...listIds(message, "id"),
    ...listIds(object(message, "container"), "id"),
    ...objects(message, "content").flatMap(listBlockIds),
  ];
}

/** Lists the files that code has written, from the result of its tool. */
function listBlockIds(block: JsonObject | undefined): string[] {
  return objects(object(block, "content"), "content").flatMap((output) => listIds(output, "file_id"));
}

function listIds(from: JsonObject | undefined, name: string): string[] {
  const id = text(from, name);
  return id === undefined ? [] : [id];
}
