import { unsupportedParameter } from "../../../lib/app-error.ts";
import { compact, isObject, object, objects, text } from "../../core/read.ts";
import type { BridgeContext } from "../../core/bridge.ts";
import type { JsonObject, JsonValue } from "../../core/types.ts";
import { readArguments, parseArguments } from "../parts/tools/arguments.ts";
import { calledIn } from "../parts/tools/chat-tools.ts";
import { parseDataUrl } from "../parts/content/data-url.ts";
import { FILE_INSIDE, readPartKind, unsupportedPart } from "../parts/answer/refused.ts";
import { listThinkingBlocks } from "../parts/reasoning/thinking.ts";
import type { CallIds } from "./call-ids.ts";

/**
 * Returns the blocks of a user turn. Texts without a visible character are refused upstream: they are left out, not
 * filled.
 */
export function userBlocks(content: JsonValue | undefined, context: BridgeContext): JsonObject[] {
  if (typeof content === "string") return textBlock(content);
  if (!Array.isArray(content)) return [];
  return content.flatMap((part) => {
    if (typeof part === "string") return textBlock(part);
    return isObject(part) ? partBlocks(part, context) : [];
  });
}

export function textBlock(value: string, mark?: JsonValue): JsonObject[] {
  return value.trim() === "" ? [] : [compact({ type: "text", text: value, cache_control: mark })];
}

/** Returns a cache mark that the client wrote, or one that another bridge carries. */
export function cacheMark(from: JsonObject): JsonValue | undefined {
  return from["cache_control"] ?? from["fw_cache_control"];
}

function partBlocks(part: JsonObject, context: BridgeContext): JsonObject[] {
  const mark = cacheMark(part);
  switch (part["type"]) {
    case "text":
      return textBlock(text(part, "text") ?? "", mark);
    case "refusal":
      return textBlock(text(part, "refusal") ?? "", mark);
    case "image_url":
      return [compact({ ...imageBlock(part), cache_control: mark })];
    case "file":
      return [compact({ ...documentBlock(part), cache_control: mark })];
    case "input_audio":
    case "video_url":
      throw unsupportedParameter(part["type"]);
    default:
      throw unsupportedPart(`messages.content.${readPartKind(part)}`, context);
  }
}

/** Builds an image block. Clients without file parts also send documents as images, and some call JPEG `image/jpg`. */
function imageBlock(part: JsonObject): JsonObject {
  const url = text(object(part, "image_url"), "url") ?? text(part, "image_url") ?? "";
  const inline = parseDataUrl(url);
  if (inline === undefined) return { type: "image", source: { type: "url", url } };
  const media_type = inline.mediaType === "image/jpg" ? "image/jpeg" : inline.mediaType;
  const type = media_type === "application/pdf" ? "document" : "image";
  return { type, source: { type: "base64", media_type, data: inline.data } };
}

function documentBlock(part: JsonObject): JsonObject {
  const file = object(part, "file");
  const own = object(part, "fw_document");
  return compact({
    type: "document",
    source: documentSource(file),
    title: text(own, "title") ?? text(file, "filename"),
    context: own?.["context"],
    citations: own?.["citations"],
  });
}

function documentSource(file: JsonObject | undefined): JsonObject {
  const id = text(file, "file_id");
  if (id?.startsWith("file-") === true) throw unsupportedParameter("file.file_id", FILE_INSIDE);
  if (id !== undefined) return { type: "file", file_id: id };
  const url = text(file, "fw_url") ?? text(file, "file_data") ?? "";
  const inline = parseDataUrl(url);
  if (inline === undefined) {
    return /^https?:/i.test(url) ? { type: "url", url } : { type: "base64", media_type: "application/pdf", data: url };
  }
  const { mediaType, data } = inline;
  if (mediaType.startsWith("text/")) {
    return { type: "text", media_type: "text/plain", data: Buffer.from(data, "base64").toString("utf8") };
  }
  return { type: "base64", media_type: mediaType, data };
}

/** Returns the blocks of an assistant turn: signed thinking first, then text, then tool calls. */
export function assistantBlocks(message: JsonObject, ids: CallIds, context: BridgeContext): JsonObject[] {
  const refusal = text(message, "refusal");
  return [
    ...listThinkingBlocks(message),
    ...saidBlocks(message["content"], context),
    ...(refusal === undefined ? [] : textBlock(refusal)),
    ...listToolCalls(message).map((call) => toolUse(call, ids, context)),
  ];
}

/** Returns the text blocks of an assistant turn, which may not hold media. */
function saidBlocks(content: JsonValue | undefined, context: BridgeContext): JsonObject[] {
  const blocks = userBlocks(content, context);
  const other = blocks.find(({ type }) => type !== "text");
  if (other !== undefined) throw unsupportedPart(`messages.content.${readPartKind(other)}`, context);
  return blocks;
}

function listToolCalls(message: JsonObject): readonly JsonObject[] {
  const legacy = object(message, "function_call");
  const calls = objects(message, "tool_calls");
  return legacy === undefined ? calls : [...calls, { id: legacyId(legacy), function: legacy }];
}

function legacyId(call: JsonObject): string {
  return `call_${text(call, "name") ?? "function"}`;
}

function toolUse(call: JsonObject, ids: CallIds, context: BridgeContext): JsonObject {
  const target = calledIn(call, context);
  return compact({
    type: "tool_use",
    id: ids.ofCall(text(call, "id") ?? ""),
    name: text(target, "name") ?? "",
    input: parseArguments(readArguments(target)),
    cache_control: cacheMark(call),
  });
}

/** Builds the result of one tool call, for the user turn that follows. */
export function toolResult(message: JsonObject, ids: CallIds, context: BridgeContext): JsonObject {
  const content = message["content"];
  const id = text(message, "tool_call_id") ?? `call_${text(message, "name") ?? "function"}`;
  const isPlain = typeof content === "string";
  return compact({
    type: "tool_result",
    tool_use_id: ids.ofResult(id),
    content: isPlain ? content : userBlocks(content, context),
    is_error: message["fw_is_error"] === true ? true : undefined,
    cache_control: cacheMark(message),
  });
}
