import { ranInPart, withRan } from "../core/ran-texts.ts";
import { FILE_TOKENS, VIDEO_TOKENS, audioTokens, imageTokens } from "../core/media.ts";
import { TEMPLATE_TOKENS, walkFunction, type PromptReader } from "../core/prompt.ts";
import { anyText, object, objects, text } from "../core/read.ts";
import type { JsonObject, Texts } from "../core/types.ts";
import { gObject, gObjects, gText, gValue, systemParts } from "./fields.ts";

const TOKENS_PER_CALL = 7;

/** Walks everything in a generateContent request that the model reads. */
export function walkGemini(body: JsonObject, reader: PromptReader): void {
  const request = gObject(body, "generateContentRequest") ?? body;
  const system = systemParts(request);
  const instruction = system.length === 0 ? [] : [{ parts: system }];
  reader.tokens(TEMPLATE_TOKENS.reply);
  for (const content of [...instruction, ...objects(request, "contents")]) {
    const parts = objects(content, "parts");
    reader.tokens(TEMPLATE_TOKENS.message * messagesIn(parts));
    for (const part of parts) walkPart(part, reader);
  }
  const tools = objects(request, "tools");
  if (tools.length > 0) reader.tokens(TEMPLATE_TOKENS.tools);
  for (const tool of tools) walkTool(tool, reader);
  const config = gObject(request, "generationConfig");
  reader.json(gValue(config, "responseSchema") ?? gValue(config, "responseJsonSchema"));
}

/** Counts messages: in other protocols, calls and results are messages of their own, apart from the rest of a turn. */
function messagesIn(parts: readonly JsonObject[]): number {
  const isApart = (part: JsonObject) => gObject(part, "functionCall") ?? gObject(part, "functionResponse");
  const apart = parts.filter(isApart).length;
  return apart === 0 || parts.length > apart ? apart + 1 : apart;
}

function walkTool(tool: JsonObject, reader: PromptReader): void {
  const functions = gObjects(tool, "functionDeclarations");
  if (functions.length === 0) return reader.json(tool);
  for (const one of functions) {
    const schema = gValue(one, "parameters") ?? gValue(one, "parametersJsonSchema");
    walkFunction({ name: anyText(one, "name"), description: anyText(one, "description"), schema }, reader);
  }
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

/** Walks a tool result, all of whose texts, at any depth, are text to a word filter. */
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

/** Returns the texts of a whole answer or of one streamed event. */
export function candidatesTexts(answer: JsonObject): Texts {
  let all = "";
  let extra = 0;
  const ran: string[] = [];
  for (const candidate of objects(answer, "candidates")) {
    for (const part of gObjects(object(candidate, "content"), "parts")) {
      all += anyText(part, "text");
      ran.push(...ranInPart(part));
      const call = object(part, "functionCall");
      if (call === undefined) continue;
      extra += TOKENS_PER_CALL;
      all += anyText(call, "name") + JSON.stringify(call["args"] ?? {});
    }
  }
  return withRan({ text: all, extra }, ran);
}
