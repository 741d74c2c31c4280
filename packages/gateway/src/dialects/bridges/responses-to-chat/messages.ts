import { unsupportedParameter } from "../../../lib/app-error.ts";
import { anyText, compact, isObject, object, objects, text } from "../../read.ts";
import type { BridgeContext, JsonObject, JsonValue } from "../../types.ts";
import { openThinking } from "./sealed.ts";

interface Draft {
  content: JsonValue;
  readonly calls: JsonObject[];
  readonly thinking: JsonObject[];
}

/** Chat messages of a Responses input: an assistant's reasoning, text and calls are one message. */
export function messagesOf(body: JsonObject, context: BridgeContext): JsonObject[] {
  const messages: JsonObject[] = [];
  const instructions = text(body, "instructions");
  if (instructions !== undefined && instructions !== "") messages.push({ role: "system", content: instructions });
  const input = body["input"];
  if (typeof input === "string") return [...messages, { role: "user", content: input }];
  let draft: Draft | undefined;
  const flush = () => {
    if (draft !== undefined) messages.push(...assistantMessage(draft));
    draft = undefined;
  };
  for (const item of objects(body, "input")) {
    if (isAssistantItem(item)) {
      if (draft !== undefined && startsAnew(draft, item)) flush();
      draft ??= { content: "", calls: [], thinking: [] };
      addTo(draft, item, context);
    } else {
      flush();
      messages.push(...otherMessages(item, context));
    }
  }
  flush();
  return messages;
}

function isAssistantItem(item: JsonObject): boolean {
  const type = item["type"] ?? "message";
  return (
    ["reasoning", "function_call", "custom_tool_call"].includes(type as string) ||
    (type === "message" && item["role"] === "assistant")
  );
}

/** Text after calls, or a second text, belongs to a later turn. */
function startsAnew(draft: Draft, item: JsonObject): boolean {
  const isText = (item["type"] ?? "message") === "message";
  return isText && (draft.calls.length > 0 || draft.content !== "");
}

function addTo(draft: Draft, item: JsonObject, context: BridgeContext): void {
  switch (item["type"]) {
    case "reasoning":
      draft.thinking.push(...thinkingOfItem(item, context));
      break;
    case "function_call":
      draft.calls.push(callOf(item, anyText(item, "arguments")));
      break;
    case "custom_tool_call":
      draft.calls.push(callOf(item, JSON.stringify({ input: anyText(item, "input") })));
      break;
    default:
      draft.content = assistantText(item["content"]);
  }
}

/** What another vendor encrypted stays shut; what is readable goes along for models that read it. */
function thinkingOfItem(item: JsonObject, context: BridgeContext): JsonObject[] {
  const sealed = text(item, "encrypted_content");
  const signed = openThinking(sealed);
  if (signed.length > 0) return signed;
  if (sealed !== undefined) context.dropped("input.reasoning.encrypted_content");
  const parts = [...objects(item, "summary"), ...objects(item, "content")];
  const thinking = parts.map((part) => anyText(part, "text")).join("\n\n");
  return thinking === "" ? [] : [{ type: "thinking", thinking, signature: "" }];
}

function callOf(item: JsonObject, args: string): JsonObject {
  return {
    id: anyText(item, "call_id", "id"),
    type: "function",
    function: { name: anyText(item, "name"), arguments: args },
  };
}

function assistantText(content: JsonValue | undefined): string {
  if (typeof content === "string") return content;
  return Array.isArray(content)
    ? content
        .filter(isObject)
        .map((part) => anyText(part, "text", "refusal"))
        .join("")
    : "";
}

function assistantMessage({ content, calls, thinking }: Draft): JsonObject[] {
  if (content === "" && calls.length === 0) return [];
  return [
    compact({
      role: "assistant",
      content: content === "" ? null : content,
      tool_calls: calls.length === 0 ? undefined : calls,
      fw_thinking: thinking.length === 0 ? undefined : thinking,
    }),
  ];
}

function otherMessages(item: JsonObject, context: BridgeContext): JsonObject[] {
  const type = text(item, "type") ?? "message";
  switch (type) {
    case "message":
      return [{ role: roleOf(item), content: contentOf(item["content"], context) }];
    case "function_call_output":
    case "custom_tool_call_output":
      return outputMessages(item, context);
    case "item_reference":
      throw unsupportedParameter("input.item_reference");
    default:
      context.dropped(`input.${type}`);
      return [];
  }
}

/** Every chat server knows `system`; models that call it otherwise have it renamed on their way. */
function roleOf(item: JsonObject): string {
  const role = text(item, "role") ?? "user";
  return role === "developer" ? "system" : role;
}

/** A chat tool message holds text only: pictures follow as the user's. */
function outputMessages(item: JsonObject, context: BridgeContext): JsonObject[] {
  const output = item["output"];
  const tool = { role: "tool", tool_call_id: anyText(item, "call_id") };
  if (typeof output === "string") return [{ ...tool, content: output }];
  if (!Array.isArray(output)) return [{ ...tool, content: JSON.stringify(output ?? "") }];
  const parts = output.filter(isObject).flatMap((part) => partOf(part, context));
  const texts = parts.filter((part) => part["type"] === "text").map((part) => anyText(part, "text"));
  const shown = parts.filter((part) => part["type"] !== "text");
  const message = { ...tool, content: texts.join("\n") };
  return shown.length === 0 ? [message] : [message, { role: "user", content: shown }];
}

function contentOf(content: JsonValue | undefined, context: BridgeContext): JsonValue {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? content.filter(isObject).flatMap((part) => partOf(part, context)) : [];
  const [only] = parts;
  return parts.length === 1 && only?.["type"] === "text" ? anyText(only, "text") : parts;
}

function partOf(part: JsonObject, context: BridgeContext): JsonObject[] {
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
      context.dropped(`input.content.${text(part, "type") ?? "unknown"}`);
      return [];
  }
}

function imagePart(part: JsonObject): JsonObject {
  const url = text(part, "image_url");
  if (url === undefined) throw unsupportedParameter("input_image.file_id");
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
