import { FILE_TOKENS, VIDEO_TOKENS, audioTokens, imageTokens } from "../core/media.ts";
import type { PromptReader } from "../core/prompt.ts";
import { anyText, object, objects, text } from "../core/read.ts";
import type { JsonObject, Texts } from "../core/types.ts";
import { gObject, gObjects, gText, gValue, systemParts } from "./fields.ts";

const TOKENS_PER_TURN = 4;
const TOKENS_OF_TOOLS = 8;
const TOKENS_PER_CALL = 7;

/** Walks everything that the model reads of a generateContent request. */
export function walkGemini(body: JsonObject, reader: PromptReader): void {
  const request = gObject(body, "generateContentRequest") ?? body;
  const system = systemParts(request);
  const instruction = system.length === 0 ? [] : [{ parts: system }];
  for (const content of [...instruction, ...objects(request, "contents")]) {
    reader.tokens(TOKENS_PER_TURN);
    for (const part of objects(content, "parts")) walkPart(part, reader);
  }
  const tools = objects(request, "tools");
  if (tools.length > 0) reader.tokens(TOKENS_OF_TOOLS);
  for (const tool of tools) reader.json(tool);
  const config = gObject(request, "generationConfig");
  reader.json(gValue(config, "responseSchema") ?? gValue(config, "responseJsonSchema"));
}

function walkPart(part: JsonObject, reader: PromptReader): void {
  const written = text(part, "text");
  if (written !== undefined) return part["thought"] === true ? reader.word(written) : reader.text(written);
  const media = gObject(part, "inlineData") ?? gObject(part, "fileData");
  if (media !== undefined) return reader.tokens(mediaTokens(gText(media, "mimeType") ?? "", text(media, "data")));
  const call = gObject(part, "functionCall");
  if (call !== undefined) {
    reader.word(anyText(call, "name"));
    return reader.json(call["args"]);
  }
  const result = gObject(part, "functionResponse");
  if (result !== undefined) return walkResponse(result, reader);
  reader.json(part);
}

/** Results of tools are text to a word filter, wherever they stand in the object. */
function walkResponse(result: JsonObject, reader: PromptReader): void {
  for (const part of objects(result, "parts")) walkPart(part, reader);
  const response = object(result, "response") ?? {};
  const written = anyText(response, "output", "result", "error");
  if (written !== "" && Object.keys(response).length === 1) return reader.text(written);
  reader.json(response);
}

function mediaTokens(type: string, data: string | undefined): number {
  if (type.startsWith("image/")) return imageTokens("gemini", undefined, undefined);
  if (type.startsWith("audio/")) return audioTokens(data === undefined ? undefined : { input_audio: { data } });
  return type.startsWith("video/") ? VIDEO_TOKENS : FILE_TOKENS;
}

/** Texts of a whole answer or of one streamed event. */
export function candidatesTexts(answer: JsonObject): Texts {
  let all = "";
  let extra = 0;
  for (const candidate of objects(answer, "candidates")) {
    for (const part of gObjects(object(candidate, "content"), "parts")) {
      all += anyText(part, "text");
      const call = object(part, "functionCall");
      if (call === undefined) continue;
      extra += TOKENS_PER_CALL;
      all += anyText(call, "name") + JSON.stringify(call["args"] ?? {});
    }
  }
  return { text: all, extra };
}
