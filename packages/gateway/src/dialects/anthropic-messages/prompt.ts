import { ranInBlock, withRan } from "../core/ran-texts.ts";
import { FILE_TOKENS } from "../core/media.ts";
import { TEMPLATE_TOKENS, walkFunction, type PromptReader } from "../core/prompt.ts";
import { anyText, isObject, isSet, object, objects, text } from "../core/read.ts";
import type { JsonObject, JsonValue, Texts } from "../core/types.ts";

const TOKENS_PER_IMAGE = 1000;
const TOKENS_PER_CALL = 7;

/** Walks everything in a messages request that the model reads. */
export function walkMessages(body: JsonObject, reader: PromptReader): void {
  reader.tokens(TEMPLATE_TOKENS.reply);
  if (isSet(body["system"]) && body["system"] !== "") reader.tokens(TEMPLATE_TOKENS.message);
  walkContent(body["system"], reader);
  for (const message of objects(body, "messages")) {
    reader.tokens(TEMPLATE_TOKENS.message * messagesIn(message["content"]));
    walkContent(message["content"], reader);
  }
  const tools = objects(body, "tools");
  if (tools.length > 0) reader.tokens(TEMPLATE_TOKENS.tools);
  for (const tool of tools) walkTool(tool, reader);
  reader.json(object(object(body, "output_config"), "format")?.["schema"]);
}

/**
 * Counts messages: in other protocols, calls and results are messages of their own, apart from the rest of a message.
 */
function messagesIn(content: JsonValue | undefined): number {
  if (!Array.isArray(content)) return 1;
  const apart = content.filter(
    (block) => isObject(block) && /^tool_(?:use|result)$/.test(anyText(block, "type")),
  ).length;
  return apart === 0 || content.length > apart ? apart + 1 : apart;
}

function walkTool(tool: JsonObject, reader: PromptReader): void {
  if (tool["input_schema"] === undefined) return reader.json(tool);
  const [name, description] = [anyText(tool, "name"), anyText(tool, "description")];
  walkFunction({ name, description, schema: tool["input_schema"] }, reader);
}

function walkContent(content: JsonValue | undefined, reader: PromptReader): void {
  if (typeof content === "string") return reader.text(content);
  if (Array.isArray(content)) for (const block of content) if (isObject(block)) walkBlock(block, reader);
}

function walkBlock(block: JsonObject, reader: PromptReader): void {
  switch (block["type"]) {
    case "text":
      return reader.text(anyText(block, "text"));
    case "thinking":
      return reader.word(anyText(block, "thinking"));
    case "image":
      return reader.tokens(TOKENS_PER_IMAGE);
    case "document":
      return walkDocument(object(block, "source"), reader);
    case "tool_use":
      reader.word(anyText(block, "name"));
      return reader.json(block["input"]);
    case "tool_result":
      return walkContent(block["content"], reader);
    default:
      return reader.json(block);
  }
}

function walkDocument(source: JsonObject | undefined, reader: PromptReader): void {
  if (text(source, "type") === "text") return reader.text(anyText(source, "data"));
  if (text(source, "type") === "content") return walkContent(source?.["content"], reader);
  reader.tokens(FILE_TOKENS);
}

/** Returns the texts of a whole message. */
export function messageTexts(message: JsonObject): Texts {
  let all = "";
  let extra = 0;
  for (const block of objects(message, "content")) {
    all += anyText(block, "text", "thinking");
    if (block["type"] !== "tool_use") continue;
    extra += TOKENS_PER_CALL;
    all += anyText(block, "name") + JSON.stringify(block["input"] ?? {});
  }
  return withRan({ text: all, extra }, objects(message, "content").flatMap(ranInBlock));
}

/** Returns the texts of one streamed event. */
export function eventTexts(event: JsonObject): Texts {
  const delta = event["type"] === "content_block_delta" ? object(event, "delta") : undefined;
  if (delta !== undefined) return { text: anyText(delta, "text", "thinking", "partial_json"), extra: 0 };
  const block = event["type"] === "content_block_start" ? object(event, "content_block") : undefined;
  if (block?.["type"] === "tool_use") return { text: anyText(block, "name"), extra: TOKENS_PER_CALL };
  return withRan({ text: anyText(block, "text"), extra: 0 }, ranInBlock(block));
}
