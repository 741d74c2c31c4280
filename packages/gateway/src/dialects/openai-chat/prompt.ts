import { FILE_TOKENS, VIDEO_TOKENS, audioTokens, imageTokens } from "../core/media.ts";
import { TEMPLATE_TOKENS, walkFunction, type PromptReader } from "../core/prompt.ts";
import { anyText, isObject, isSet, list, object, objects, text } from "../core/read.ts";
import type { JsonObject, JsonValue, Texts } from "../core/types.ts";

const TOKENS_PER_CALL = 7;

/** Walks everything in a chat request that the model reads. */
export function walkChat(body: JsonObject, reader: PromptReader): void {
  const model = text(body, "model") ?? "";
  reader.tokens(TEMPLATE_TOKENS.reply);
  for (const message of objects(body, "messages")) walkMessage(message, model, reader);
  const tools = objects(body, "tools");
  const functions = objects(body, "functions");
  if (tools.length + functions.length > 0) reader.tokens(TEMPLATE_TOKENS.tools);
  for (const tool of tools) walkTool(tool, reader);
  for (const tool of functions) walkTool(tool, reader);
  reader.json(object(object(body, "response_format"), "json_schema")?.["schema"]);
}

function walkMessage(message: JsonObject, model: string, reader: PromptReader): void {
  const legacy = object(message, "function_call");
  const calls = legacy === undefined ? objects(message, "tool_calls") : [{ function: legacy }];
  if (calls.length === 0 || hasContent(message["content"])) reader.tokens(TEMPLATE_TOKENS.message);
  const name = text(message, "name");
  if (name !== undefined) {
    reader.tokens(1);
    reader.word(name);
  }
  walkContent(message["content"], model, reader);
  const refusal = text(message, "refusal");
  if (refusal !== undefined) reader.text(refusal);
  for (const call of calls) walkCall(call, reader);
}

function hasContent(content: JsonValue | undefined): boolean {
  return typeof content === "string" ? content !== "" : Array.isArray(content) && content.length > 0;
}

function walkContent(content: JsonValue | undefined, model: string, reader: PromptReader): void {
  if (typeof content === "string") return reader.text(content);
  if (!Array.isArray(content)) return;
  for (const part of content) {
    if (typeof part === "string") reader.text(part);
    else if (isObject(part)) walkPart(part, model, reader);
  }
}

function walkPart(part: JsonObject, model: string, reader: PromptReader): void {
  switch (part["type"]) {
    case "text":
    case "refusal":
      return reader.text(anyText(part, "text", "refusal"));
    case "image_url": {
      const image = object(part, "image_url");
      const url = text(image, "url") ?? text(part, "image_url");
      return reader.tokens(imageTokens(model, url, text(image, "detail")));
    }
    case "input_audio":
      return reader.tokens(audioTokens(part));
    case "file":
      return reader.tokens(FILE_TOKENS);
    case "video_url":
      return reader.tokens(VIDEO_TOKENS);
    default:
      return reader.json(part);
  }
}

function walkCall(call: JsonObject, reader: PromptReader): void {
  const target = object(call, "function") ?? object(call, "custom");
  reader.tokens(TEMPLATE_TOKENS.message);
  reader.word(anyText(target, "name"));
  reader.word(anyText(target, "arguments", "input"));
}

function walkTool(tool: JsonObject, reader: PromptReader): void {
  const target = object(tool, "function") ?? object(tool, "custom") ?? tool;
  const schema = target["parameters"] ?? target["format"];
  walkFunction({ name: anyText(target, "name"), description: anyText(target, "description"), schema }, reader);
}

/** Returns the texts of one choice: a whole message or the delta of a stream. */
export function messageTexts(message: JsonObject | undefined): Texts {
  if (message === undefined) return { text: "", extra: 0 };
  const content = contentText(message["content"]);
  const reasoning = anyText(message, "reasoning_content", "reasoning");
  let all = content + reasoning + anyText(message, "refusal") + anyText(object(message, "audio"), "transcript");
  let extra = 0;
  const legacy = object(message, "function_call");
  const calls = objects(message, "tool_calls");
  for (const call of legacy === undefined ? calls : [...calls, { function: legacy }]) {
    const target = object(call, "function") ?? object(call, "custom");
    if (text(target, "name") !== undefined) extra += TOKENS_PER_CALL;
    all += anyText(target, "name") + anyText(target, "arguments", "input");
  }
  return { text: all, extra };
}

function contentText(content: JsonValue | undefined): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (isObject(part) ? anyText(part, "text") : "")).join("");
}

/** Returns the texts of all choices of an answer or of one streamed event. */
export function choicesTexts(answer: JsonObject): Texts {
  let all = "";
  let extra = 0;
  for (const choice of objects(answer, "choices")) {
    const texts = messageTexts(object(choice, "delta") ?? object(choice, "message"));
    all += texts.text;
    extra += texts.extra;
    all += anyText(choice, "text");
  }
  return { text: all, extra };
}

/** True if a chunk has usage but no choice; some servers leave the empty list out. */
export function isUsageChunk(event: JsonObject): boolean {
  return list(event, "choices").length === 0 && isSet(event["usage"]);
}
