import { AppError, unsupportedParameter } from "../../../lib/app-error.ts";
import { anyText, compact, isObject, object, objects, text } from "../../core/read.ts";
import type { BridgeContext } from "../../core/bridge.ts";
import type { JsonObject, JsonValue } from "../../core/types.ts";
import { readArguments } from "../parts/tools/arguments.ts";
import { FILE_INSIDE, readPartKind, unsupportedPart } from "../parts/answer/refused.ts";
import { writeHostedCall } from "../parts/content/hosted-text.ts";
import { referenceIn, parseResponseId } from "./own-ids.ts";
import { calledClientTool, clientArguments, clientResult } from "./client-tools.ts";
import { calledBy, isOutput, Results } from "./results.ts";
import { openThinking } from "./sealed.ts";
import { foundText, isFound, isSearch } from "./search.ts";
import { SEARCH, readUpstreamName } from "./tool-names.ts";

interface Draft {
  content: string;
  readonly calls: JsonObject[];
  readonly thinking: JsonObject[];
}

/** Returns the chat messages of a Responses input: an assistant's reasoning, text and calls become one message. */
export function toChatMessages(body: JsonObject, context: BridgeContext): JsonObject[] {
  const messages: JsonObject[] = [];
  const instructions = text(body, "instructions");
  if (instructions !== undefined && instructions !== "") messages.push({ role: "system", content: instructions });
  const input = body["input"];
  if (typeof input === "string") return [...messages, { role: "user", content: input }];
  const items = objects(body, "input");
  const results = new Results(items);
  let draft: Draft | undefined;
  const flush = () => {
    if (draft === undefined) return;
    messages.push(...assistantMessage(draft, context), ...resultMessages(results.takeFor(draft.calls), context));
    draft = undefined;
  };
  for (const item of items) {
    if (isAssistantItem(item)) {
      if (draft !== undefined && startsTurn(draft, item)) flush();
      draft ??= { content: "", calls: [], thinking: [] };
      addTo(draft, item, context);
    } else {
      flush();
      messages.push(...(isOutput(item) ? resultMessages(results.take(item), context) : otherMessages(item, context)));
    }
  }
  flush();
  return messages;
}

function isAssistantItem(item: JsonObject): boolean {
  const isSpoken = ["reasoning", "function_call", "custom_tool_call"].includes(anyText(item, "type"));
  return isSpoken || isSearch(item) || isAssistantText(item) || isHosted(item) || calledClientTool(item) !== undefined;
}

function isAssistantText(item: JsonObject): boolean {
  return (item["type"] ?? "message") === "message" && item["role"] === "assistant";
}

/**
 * True if the item starts a new turn: a second text belongs to a later turn, but a text after calls belongs to the turn
 * in which they were made.
 */
function startsTurn(draft: Draft, item: JsonObject): boolean {
  return isAssistantText(item) && draft.calls.length === 0 && draft.content !== "";
}

function addTo(draft: Draft, item: JsonObject, context: BridgeContext): void {
  switch (item["type"]) {
    case "reasoning":
      draft.thinking.push(...readItemThinking(item, context));
      break;
    case "function_call":
      draft.calls.push(buildToolCall(item, readUpstreamName(item), anyText(item, "arguments")));
      break;
    case "custom_tool_call":
      draft.calls.push(buildToolCall(item, readUpstreamName(item), JSON.stringify({ input: anyText(item, "input") })));
      break;
    case "tool_search_call":
      draft.calls.push(buildToolCall(item, SEARCH, readArguments(item)));
      break;
    default: {
      const tool = calledClientTool(item);
      if (tool !== undefined) return void draft.calls.push(buildToolCall(item, tool, clientArguments(tool, item)));
      const said = isHosted(item)
        ? writeHostedCall(item, `input.${anyText(item, "type")}`, context)
        : assistantText(item["content"], context);
      draft.content = [draft.content, said].filter((piece) => piece !== "").join("\n\n");
    }
  }
}

/** Drops reasoning that another vendor encrypted; readable reasoning is passed to models that accept it. */
function readItemThinking(item: JsonObject, context: BridgeContext): JsonObject[] {
  const sealed = text(item, "encrypted_content");
  const signed = openThinking(sealed);
  if (signed.length > 0) return signed;
  if (sealed !== undefined) context.dropped("input.reasoning.encrypted_content");
  const whole = joinTexts(objects(item, "content"));
  const thinking = whole === "" ? joinTexts(objects(item, "summary")) : whole;
  return thinking === "" ? [] : [{ type: "thinking", thinking, signature: "" }];
}

/**
 * Joins the texts of parts. The caller reads a summary only if there is no full text, because the summary repeats it.
 */
function joinTexts(parts: readonly JsonObject[]): string {
  return parts.map((part) => anyText(part, "text")).join("\n\n");
}

function buildToolCall(item: JsonObject, name: string | undefined, args: string): JsonObject {
  return {
    id: anyText(item, "call_id", "id"),
    type: "function",
    function: { name: name ?? "", arguments: args },
  };
}

function assistantText(content: JsonValue | undefined, context: BridgeContext): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .filter(isObject)
    .map((part) => {
      const said = text(part, "text") ?? text(part, "refusal");
      if (said === undefined || !SPOKEN.has(readPartKind(part)))
        throw unsupportedPart(`input.content.${readPartKind(part)}`, context);
      return said;
    })
    .join("");
}

const SPOKEN = new Set(["output_text", "input_text", "text", "refusal"]);

function assistantMessage({ content, calls, thinking }: Draft, context: BridgeContext): JsonObject[] {
  if (content === "" && calls.length === 0) {
    if (thinking.length > 0) context.dropped("input.reasoning");
    return [];
  }
  return [
    compact({
      role: "assistant",
      content: content === "" ? null : content,
      tool_calls: calls.length === 0 ? undefined : calls,
      fw_thinking: thinking.length === 0 ? undefined : thinking,
    }),
  ];
}

/**
 * Converts other items. Items that only the vendor can resolve are refused, as they replace part of the conversation.
 */
function otherMessages(item: JsonObject, context: BridgeContext): JsonObject[] {
  const reference = referenceIn(item);
  if (reference !== undefined) throw notStored(reference);
  const type = text(item, "type") ?? "message";
  switch (type) {
    case "message":
      return toMessages(item, context);
    case "additional_tools":
      return [];
    case "tool_search_call":
    case "tool_search_output":
    case "mcp_list_tools":
    case "web_search_call":
      context.dropped(`input.${type}`);
      return [];
    case "compaction":
      throw unsupportedParameter(`input.${type}`, "Only its vendor can read it: start over with a summary in words.");
    default:
      throw unsupportedPart(`input.${type}`, context);
  }
}

/** Types of calls that the vendor ran, with their results. */
const HOSTED = new Set(["file_search_call", "code_interpreter_call", "mcp_call", "program", "program_output"]);

function isHosted(item: JsonObject): boolean {
  return HOSTED.has(anyText(item, "type"));
}

function notStored(id: string): AppError {
  const param = "input.item_reference";
  if (parseResponseId(id) !== undefined) return new AppError("item_not_found", { param, values: { id } });
  const message = "Items of others are not retained here; send them whole instead of their ids (store: false).";
  return new AppError("unsupported_parameter", { param, message });
}

/**
 * Converts an item to messages. A system text is joined to one string, because some servers accept no list of parts
 * there. Empty text produces no message.
 */
function toMessages(item: JsonObject, context: BridgeContext): JsonObject[] {
  const role = readRole(item);
  const content = toContent(item["content"], context);
  if (!Array.isArray(content)) return [{ role, content }];
  if (content.length === 0) return [];
  const parts = content.filter(isObject);
  if (role !== "system") return [{ role, content }];
  const other = parts.find((part) => part["type"] !== "text");
  if (other !== undefined)
    throw unsupportedPart(`input.content.${SENT_AS[readPartKind(other)] ?? readPartKind(other)}`, context);
  return [{ role, content: parts.map((part) => anyText(part, "text")).join("\n\n") }];
}

/** The clients' names for parts that have other names in chat. */
const SENT_AS: Readonly<Record<string, string>> = { image_url: "input_image", file: "input_file" };

/** Returns the role. Every chat server knows `system`; for models with another name, it is renamed later. */
function readRole(item: JsonObject): string {
  const role = text(item, "role") ?? "user";
  return role === "developer" ? "system" : role;
}

/**
 * Converts results. A chat tool message holds only text, so pictures follow in a user message after the turn's results.
 */
function resultMessages(items: readonly JsonObject[], context: BridgeContext): JsonObject[] {
  const shown: JsonObject[] = [];
  const results = items.map((item) => toToolResult(item, shown, context));
  return shown.length === 0 ? results : [...results, { role: "user", content: shown }];
}

function toToolResult(item: JsonObject, shown: JsonObject[], context: BridgeContext): JsonObject {
  const output = item["output"];
  const tool = { role: "tool", tool_call_id: calledBy(item) };
  const ran = clientResult(item);
  if (ran !== undefined) return { ...tool, content: ran };
  if (isFound(item)) return { ...tool, content: foundText(item) };
  if (typeof output === "string") return { ...tool, content: output };
  if (!Array.isArray(output)) return { ...tool, content: JSON.stringify(output ?? "") };
  const parts = output.filter(isObject).flatMap((part) => toParts(part, context));
  const texts = parts.filter((part) => part["type"] === "text").map((part) => anyText(part, "text"));
  shown.push(...parts.filter((part) => part["type"] !== "text"));
  return { ...tool, content: texts.join("\n") };
}

function toContent(content: JsonValue | undefined, context: BridgeContext): JsonValue {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? content.filter(isObject).flatMap((part) => toParts(part, context)) : [];
  const [only] = parts;
  return parts.length === 1 && only?.["type"] === "text" ? anyText(only, "text") : parts;
}

function toParts(part: JsonObject, context: BridgeContext): JsonObject[] {
  switch (part["type"]) {
    case "input_text":
    case "output_text":
    case "text":
    case "refusal":
      return [{ type: "text", text: anyText(part, "text", "refusal") }];
    case "input_image":
      return [imagePart(part)];
    case "input_file":
      return [filePart(part)];
    case "input_audio":
      return [{ type: "input_audio", input_audio: object(part, "input_audio") ?? {} }];
    default:
      throw unsupportedPart(`input.content.${readPartKind(part)}`, context);
  }
}

function imagePart(part: JsonObject): JsonObject {
  const url = text(part, "image_url");
  if (url === undefined) throw unsupportedParameter("input_image.file_id", FILE_INSIDE);
  return { type: "image_url", image_url: compact({ url, detail: text(part, "detail") }) };
}

function filePart(part: JsonObject): JsonObject {
  return {
    type: "file",
    file: compact({
      file_id: text(part, "file_id"),
      file_data: text(part, "file_data"),
      fw_url: text(part, "file_url"),
      filename: text(part, "filename"),
    }),
  };
}
