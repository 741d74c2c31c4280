import { invalidRequest } from "../lib/app-error.ts";
import { modelOf } from "./ask.ts";
import { walkInput } from "./openai-completions.ts";
import { plainDialect, usageMember } from "./plain.ts";
import { boundOf, textsOf, wordsOf } from "./prompt.ts";
import { isSet } from "./read.ts";
import type { Dialect, JsonValue } from "./types.ts";
import { readChatUsage } from "./usage.ts";

const MAX_ITEMS = 2048;

export const openaiEmbeddings: Dialect = {
  ...plainDialect,
  id: "openai-embeddings",
  inspect(body, operation, pathModel) {
    const json = body.json();
    const model = modelOf(json, pathModel);
    checkInput(json["input"]);
    return {
      operation,
      dialect: "openai-embeddings",
      model,
      stream: false,
      wantsStreamUsage: false,
      outputCap: undefined,
      promptEstimate: boundOf((reader) => walkInput(json["input"], reader)),
      units: 1,
    };
  },
  usage: (answer) => usageMember(answer, readChatUsage),
  promptTexts: (body) => textsOf((reader) => walkInput(body.json()["input"], reader)),
  promptWords: (body) => wordsOf((reader) => walkInput(body.json()["input"], reader)),
};

function checkInput(input: JsonValue | undefined): void {
  if (!isSet(input) || input === "") throw invalidRequest("input", "input is required.");
  if (typeof input === "string") return;
  if (!Array.isArray(input)) throw invalidRequest("input", "input must be a string or an array.");
  if (input.length === 0) throw invalidRequest("input", "input must not be empty.");
  if (typeof input[0] !== "number" && input.length > MAX_ITEMS) {
    throw invalidRequest("input", `input must not have more than ${MAX_ITEMS} items.`);
  }
}
