import { isObject, text } from "../../../dialects/core/read.ts";
import type { AnswerIds, JsonObject, JsonValue } from "../../../dialects/core/types.ts";

const MAX_DEPTH = 8;

/** Conversations and uploaded files belong to the app, which all users of a channel share. */
export const difyIds: { readonly answerIds: AnswerIds; requestIds(body: JsonObject): readonly string[] } = {
  answerIds: {
    marks: ["message", "agent_message", "message_end"],
    mayName: () => true,
    // A whole answer is already converted: its `id` is the conversation.
    read: (answer) => listIds(text(answer, answer["object"] === "chat.completion" ? "id" : "conversation_id")),
  },
  requestIds: (body) => [...listIds(text(body, "conversation_id")), ...uploadsIn(body["inputs"], MAX_DEPTH)],
};

function uploadsIn(value: JsonValue | undefined, depth: number): string[] {
  if (depth === 0) return [];
  if (Array.isArray(value)) return value.flatMap((item) => uploadsIn(item, depth - 1));
  if (!isObject(value)) return [];
  return [
    ...listIds(text(value, "upload_file_id")),
    ...Object.values(value).flatMap((inner) => uploadsIn(inner, depth - 1)),
  ];
}

function listIds(id: string | undefined): string[] {
  return id === undefined || id === "" ? [] : [id];
}
