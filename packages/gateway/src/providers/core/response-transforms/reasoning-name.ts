import type { JsonObject } from "../../../dialects/core/types.ts";
import type { ResponseTransform } from "../types.ts";
import { eachMessage, onEvent } from "./each-choice.ts";

/** `reasoning` of vLLM, Groq, OpenRouter and others becomes `reasoning_content`, the name that clients know. */
export const reasoningName: ResponseTransform = {
  name: "reasoning as reasoning_content",
  marks: ['"reasoning"'],
  answer: edit,
  stream: () => onEvent(edit),
};

function edit(body: JsonObject): JsonObject {
  return eachMessage(body, (message) => {
    if (typeof message["reasoning"] !== "string" || message["reasoning_content"] !== undefined) return message;
    const { reasoning, ...rest } = message;
    return { ...rest, reasoning_content: reasoning };
  });
}
