import type { JsonObject } from "../../dialects/types.ts";
import type { AnswerRepair } from "../types.ts";
import { eachChoice, eachMessage, onEvent } from "./each-choice.ts";

/** `reasoning` of vLLM, Groq, OpenRouter and others becomes `reasoning_content`, the name that clients know. */
export const reasoningName: AnswerRepair = {
  name: "reasoning as reasoning_content",
  marks: ['"reasoning"', '"token_ids"'],
  answer: edit,
  stream: () => onEvent(edit),
};

function edit(body: JsonObject): JsonObject {
  return eachChoice(eachMessage(body, rename), dropTokenIds);
}

function rename(message: JsonObject): JsonObject {
  const { reasoning, ...rest } = message;
  if (typeof reasoning !== "string" || message["reasoning_content"] !== undefined) return message;
  return { ...rest, reasoning_content: reasoning };
}

/** vLLM puts `token_ids: null` into every choice. */
function dropTokenIds(choice: JsonObject): JsonObject {
  if (choice["token_ids"] !== null) return choice;
  const { token_ids: _nothing, ...rest } = choice;
  return rest;
}
