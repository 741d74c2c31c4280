import { isSet, object, objects, text } from "../core/read.ts";
import type { AnswerIds, JsonObject } from "../core/types.ts";

/** The message, its container, and the files that were made in it. */
export const messageAnswerIds: AnswerIds = {
  marks: ["message_start", "container", "file_id"],
  mayName: (body) =>
    isSet(body["thread"]) ||
    isSet(body["container"]) ||
    objects(body, "tools").some((tool) => text(tool, "type")?.startsWith("code_execution") === true),
  read(answer) {
    switch (text(answer, "type")) {
      case "message":
        return idsOfMessage(answer);
      case "message_start":
        return idsOfMessage(object(answer, "message"));
      case "message_delta":
        return idsOf(object(object(answer, "delta"), "container"), "id");
      case "content_block_start":
        return idsOfBlock(object(answer, "content_block"));
      default:
        return [];
    }
  },
};

function idsOfMessage(message: JsonObject | undefined): string[] {
  return [
    ...idsOf(message, "id"),
    ...idsOf(object(message, "container"), "id"),
    ...objects(message, "content").flatMap(idsOfBlock),
  ];
}

/** Files that code has written are in the result of its tool. */
function idsOfBlock(block: JsonObject | undefined): string[] {
  return objects(object(block, "content"), "content").flatMap((output) => idsOf(output, "file_id"));
}

function idsOf(from: JsonObject | undefined, name: string): string[] {
  const id = text(from, name);
  return id === undefined ? [] : [id];
}
