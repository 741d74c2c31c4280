import { invalidRequest } from "../../lib/app-error.ts";
import { readModelName } from "../core/request-spec.ts";
import { imageTokens } from "../core/media.ts";
import { plainDialect, usageMember } from "../core/typed-meter.ts";
import { estimateTokenBound, collectTexts, collectWords, type PromptReader } from "../core/prompt.ts";
import { isObject, isSet, object, text } from "../core/read.ts";
import type { Dialect, JsonObject } from "../core/types.ts";
import { readChatUsage } from "../core/usage.ts";

/** The model if a request names none; the older default of compatible gateways is `text-moderation-stable`. */
export const DEFAULT_MODERATION_MODEL = "omni-moderation-latest";

export const openaiModerations: Dialect = {
  ...plainDialect,
  id: "openai-moderations",
  inspect(body, operation, pathModel) {
    const json = body.json();
    const model = readModelName(json, pathModel, DEFAULT_MODERATION_MODEL);
    const input = json["input"];
    if (!isSet(input) || input === "" || (Array.isArray(input) && input.length === 0)) {
      throw invalidRequest("input", "input is required.");
    }
    return {
      operation,
      dialect: "openai-moderations",
      model,
      stream: false,
      wantsStreamUsage: false,
      outputCap: undefined,
      promptEstimate: estimateTokenBound((reader) => walk(json, reader)),
      units: 1,
    };
  },
  usage: (answer) => usageMember(answer, readChatUsage),
  promptTexts: (body) => collectTexts((reader) => walk(body.json(), reader)),
  promptWords: (body) => collectWords((reader) => walk(body.json(), reader)),
};

function walk(json: JsonObject, reader: PromptReader): void {
  const input = json["input"];
  for (const item of Array.isArray(input) ? input : [input]) {
    if (typeof item === "string") reader.text(item);
    else if (isObject(item)) walkPart(item, reader);
  }
}

function walkPart(part: JsonObject, reader: PromptReader): void {
  const written = text(part, "text");
  if (written !== undefined) return reader.text(written);
  const image = object(part, "image_url");
  if (image !== undefined) reader.tokens(imageTokens("gpt-4o", text(image, "url"), undefined));
}
