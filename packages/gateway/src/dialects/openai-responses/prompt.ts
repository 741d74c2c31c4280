import { ranInItem, withRan } from "../core/ran-texts.ts";
import { FILE_TOKENS, imageTokens } from "../core/media.ts";
import { TEMPLATE_TOKENS, walkFunction, type PromptReader } from "../core/prompt.ts";
import { anyText, isObject, object, objects, text } from "../core/read.ts";
import type { JsonObject, JsonValue, Texts } from "../core/types.ts";

const TOKENS_PER_CALL = 7;

/** Walks everything in a Responses request that the model reads. */
export function walkResponses(body: JsonObject, reader: PromptReader): void {
  const model = text(body, "model") ?? "";
  reader.tokens(TEMPLATE_TOKENS.reply);
  const instructions = text(body, "instructions");
  if (instructions !== undefined) {
    reader.tokens(TEMPLATE_TOKENS.message);
    reader.text(instructions);
  }
  const input = body["input"];
  if (typeof input === "string") {
    reader.tokens(TEMPLATE_TOKENS.message);
    reader.text(input);
  }
  for (const item of objects(body, "input")) walkItem(item, model, reader);
  const tools = objects(body, "tools");
  if (tools.length > 0) reader.tokens(TEMPLATE_TOKENS.tools);
  for (const tool of tools) walkTool(tool, reader);
  reader.json(object(object(body, "text"), "format")?.["schema"]);
}

function walkTool(tool: JsonObject, reader: PromptReader): void {
  if (tool["type"] !== "function" && tool["type"] !== "custom") return reader.json(tool);
  const schema = tool["parameters"] ?? tool["format"];
  walkFunction({ name: anyText(tool, "name"), description: anyText(tool, "description"), schema }, reader);
}

function walkItem(item: JsonObject, model: string, reader: PromptReader): void {
  reader.tokens(TEMPLATE_TOKENS.message);
  switch (item["type"]) {
    case "function_call":
    case "custom_tool_call":
      reader.word(anyText(item, "name"));
      return reader.word(anyText(item, "arguments", "input"));
    case "function_call_output":
    case "custom_tool_call_output":
      return walkContent(item["output"], model, reader);
    case "reasoning":
      for (const part of [...objects(item, "summary"), ...objects(item, "content")]) reader.text(anyText(part, "text"));
      return;
    case undefined:
    case "message":
      return walkContent(item["content"], model, reader);
    default:
      return reader.json(item);
  }
}

function walkContent(content: JsonValue | undefined, model: string, reader: PromptReader): void {
  if (typeof content === "string") return reader.text(content);
  if (!Array.isArray(content)) return;
  for (const part of content.filter(isObject)) {
    const written = text(part, "text") ?? text(part, "refusal");
    if (written !== undefined) reader.text(written);
    else if (part["type"] === "input_image") {
      reader.tokens(imageTokens(model, text(part, "image_url"), text(part, "detail")));
    } else if (part["type"] === "input_file") reader.tokens(FILE_TOKENS);
    else reader.json(part);
  }
}

/** Returns the texts of a whole response object. */
export function outputTexts(response: JsonObject): Texts {
  let all = "";
  let extra = 0;
  for (const item of objects(response, "output")) {
    for (const part of [...objects(item, "content"), ...objects(item, "summary")]) {
      all += anyText(part, "text", "refusal");
    }
    if (!isCall(item)) continue;
    extra += TOKENS_PER_CALL;
    all += anyText(item, "name") + anyText(item, "arguments", "input");
  }
  return withRan({ text: all, extra }, objects(response, "output").flatMap(ranInItem));
}

/** Returns the texts of one streamed event: its delta, or the name of a call that begins. */
export function eventTexts(event: JsonObject): Texts {
  const type = text(event, "type") ?? "";
  if (type.endsWith(".delta")) return { text: text(event, "delta") ?? "", extra: 0 };
  if (type === "response.output_item.done") return withRan({ text: "", extra: 0 }, ranInItem(object(event, "item")));
  const item = type === "response.output_item.added" ? object(event, "item") : undefined;
  return item !== undefined && isCall(item)
    ? { text: text(item, "name") ?? "", extra: TOKENS_PER_CALL }
    : { text: "", extra: 0 };
}

function isCall(item: JsonObject): boolean {
  return item["type"] === "function_call" || item["type"] === "custom_tool_call";
}
