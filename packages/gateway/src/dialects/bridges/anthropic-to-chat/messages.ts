import { unsupportedParameter, type AppError } from "../../../lib/app-error.ts";
import { anyText, compact, isObject, isSet, object, objects, text } from "../../core/read.ts";
import type { BridgeContext } from "../../core/bridge.ts";
import type { JsonObject, JsonValue } from "../../core/types.ts";
import { dataUrl } from "../parts/content/data-url.ts";
import { chatName } from "../parts/content/chat-name.ts";
import { FILE_INSIDE, readPartKind, unsupportedPart } from "../parts/answer/refused.ts";
import { isUnknown } from "../parts/content/text-parts.ts";
import { writeHostedCall } from "../parts/content/hosted-text.ts";
import { joinedTurns } from "./turns.ts";

/** Block types of calls of tools that the vendor ran, and of their results. */
const HOSTED = /^(server_tool_use|mcp_tool_use|.+_tool_result)$/;

/**
 * A line about the client for Anthropic's billing. It differs in every request, so no cache would match what follows.
 */
const BOOKING = /^x-anthropic-billing-header:[^\n]*\n?/;

/** Returns the chat messages of a conversation; tool results come before the user's text in the same turn. */
export function toChatMessages(body: JsonObject, context: BridgeContext): JsonObject[] {
  return [
    ...systemMessages(body["system"], context),
    ...joinedTurns(objects(body, "messages")).flatMap((message) => convertTurn(message, context)),
  ];
}

/** Returns the system messages as one text, because some servers take no list of parts here. */
function systemMessages(system: JsonValue | undefined, context: BridgeContext): JsonObject[] {
  const blocks = typeof system === "string" ? [{ text: system }] : Array.isArray(system) ? system.filter(isObject) : [];
  const other = blocks.find((block) => isUnknown(block) || text(block, "text") === undefined);
  if (other !== undefined) throw unsupportedPart(`system.${readPartKind(other)}`, context);
  const texts = blocks.map((block) => anyText(block, "text").replace(BOOKING, "")).filter((part) => part !== "");
  if (texts.length === 0) return [];
  return [compact({ role: "system", content: texts.join("\n\n"), fw_cache_control: markIn(blocks) })];
}

/** Returns any one of the cache marks, because they are only reported as dropped. */
function markIn(blocks: readonly JsonObject[]): JsonValue | undefined {
  return blocks.map((block) => block["cache_control"]).find(isSet);
}

function textPart(block: JsonObject): JsonObject {
  return compact({ type: "text", text: anyText(block, "text"), fw_cache_control: block["cache_control"] ?? undefined });
}

function convertTurn(message: JsonObject, context: BridgeContext): JsonObject[] {
  const content = message["content"];
  const role = text(message, "role") ?? "user";
  if (typeof content === "string") return content === "" ? [] : [{ role, content }];
  const blocks = objects(message, "content");
  if (role === "system") return systemMessages(content, context);
  return role === "assistant" ? assistantMessage(blocks, context) : userMessages(blocks, context);
}

function userMessages(blocks: readonly JsonObject[], context: BridgeContext): JsonObject[] {
  const results = blocks.filter((block) => block["type"] === "tool_result");
  const shown = results.flatMap((result) =>
    objects(result, "content").filter((block) => writtenIn(block) === undefined),
  );
  const others = blocks.filter((block) => block["type"] !== "tool_result");
  const parts = [...shown, ...others].flatMap((block) => userPart(block, context));
  const messages = results.map(resultMessage);
  return parts.length === 0 ? messages : [...messages, userMessage(parts)];
}

/** Builds a user message; a single text part becomes a plain text. */
function userMessage(parts: readonly JsonObject[]): JsonObject {
  const [only] = parts;
  if (parts.length > 1 || only?.["type"] !== "text") return { role: "user", content: [...parts] };
  return compact({ role: "user", content: anyText(only, "text"), fw_cache_control: only["fw_cache_control"] });
}

function userPart(block: JsonObject, context: BridgeContext): JsonObject[] {
  const mark = block["cache_control"] ?? undefined;
  switch (block["type"]) {
    case "text":
      return anyText(block, "text") === "" ? [] : [textPart(block)];
    case "image":
      return [
        compact({
          type: "image_url",
          image_url: { url: sourceUrl(object(block, "source"), "image/png", context) },
          fw_cache_control: mark,
        }),
      ];
    case "document":
      return documentParts(block, mark, context);
    case "search_result":
      return [compact({ type: "text", text: searchText(block), fw_cache_control: mark })];
    case "fallback":
      context.dropped("messages.content.fallback");
      return [];
    default:
      throw unsupportedBlock(block, context);
  }
}

function unsupportedBlock(block: JsonObject, context: BridgeContext): AppError {
  return unsupportedPart(`messages.content.${readPartKind(block)}`, context);
}

/** Returns the text of a result's part; undefined if it has none. */
function writtenIn(block: JsonObject): string | undefined {
  switch (block["type"]) {
    case "text":
      return anyText(block, "text");
    case "search_result":
      return searchText(block);
    case "tool_reference":
      return chatName(anyText(block, "tool_name"));
    default:
      return undefined;
  }
}

/** Returns the results of a client's search as text. */
function searchText(block: JsonObject): string {
  const texts = objects(block, "content").map((part) => anyText(part, "text"));
  return [anyText(block, "title"), anyText(block, "source"), ...texts].filter((line) => line !== "").join("\n");
}

/** Returns the URL of a source. Throws for a file that is stored at Anthropic, which no other vendor can read. */
function sourceUrl(source: JsonObject | undefined, fallback: string, context: BridgeContext): string {
  const type = text(source, "type") ?? "";
  if (type === "file") throw unsupportedParameter("source.file_id", FILE_INSIDE);
  if (type === "base64") return dataUrl(text(source, "media_type") ?? fallback, anyText(source, "data"));
  if (type !== "url") throw unsupportedPart(`messages.content.source.${type}`, context);
  return anyText(source, "url");
}

/** Returns the parts of a document: text documents become text under their title, others become files. */
function documentParts(block: JsonObject, mark: JsonValue | undefined, context: BridgeContext): JsonObject[] {
  const source = object(block, "source");
  const title = text(block, "title");
  const fw_document = compact({ title, context: block["context"], citations: block["citations"] });
  const head = [anyText(block, "title"), anyText(block, "context")].filter((line) => line !== "");
  const buildTextPart = (written: string) =>
    compact({ type: "text", text: [...head, written].join("\n"), fw_cache_control: mark });
  switch (text(source, "type")) {
    case "text":
      return [buildTextPart(anyText(source, "data"))];
    case "content":
      if (typeof source?.["content"] === "string") return [buildTextPart(source["content"])];
      return [
        ...(head.length === 0 ? [] : [{ type: "text", text: head.join("\n") }]),
        ...objects(source, "content").flatMap((part) => userPart(part, context)),
      ];
    case "url":
      return [
        compact({
          type: "file",
          file: { filename: title ?? "document.pdf", fw_url: anyText(source, "url") },
          fw_document,
          fw_cache_control: mark,
        }),
      ];
    default: {
      const file = { filename: title ?? "document.pdf", file_data: sourceUrl(source, "application/pdf", context) };
      return [compact({ type: "file", file, fw_document, fw_cache_control: mark })];
    }
  }
}

function resultMessage(block: JsonObject): JsonObject {
  const content = block["content"];
  const texts = objects(block, "content").flatMap((part) => writtenIn(part) ?? []);
  return compact({
    role: "tool",
    tool_call_id: anyText(block, "tool_use_id"),
    content: typeof content === "string" ? content : texts.join("\n"),
    fw_is_error: block["is_error"] === true ? true : undefined,
    fw_cache_control: block["cache_control"] ?? undefined,
  });
}

function assistantMessage(blocks: readonly JsonObject[], context: BridgeContext): JsonObject[] {
  const thinking = blocks.filter((block) => block["type"] === "thinking" || block["type"] === "redacted_thinking");
  const texts = blocks.flatMap((block) => spokenText(block, context));
  const calls = blocks.filter((block) => block["type"] === "tool_use").map(toToolCall);
  if (texts.length === 0 && calls.length === 0) {
    if (thinking.length > 0) context.dropped("messages.thinking");
    return [];
  }
  return [
    compact({
      role: "assistant",
      content: texts.length === 0 ? null : texts.join(""),
      tool_calls: calls.length === 0 ? undefined : calls,
      fw_thinking: thinking.length === 0 ? undefined : thinking,
      fw_cache_control: markIn(blocks.filter(({ type }) => type === "text")),
    }),
  ];
}

/** Returns the text of an assistant's block; thinking and calls are converted elsewhere. */
function spokenText(block: JsonObject, context: BridgeContext): string[] {
  const type = anyText(block, "type");
  switch (type) {
    case "thinking":
    case "redacted_thinking":
    case "tool_use":
      return [];
    case "text":
      return anyText(block, "text") === "" ? [] : [anyText(block, "text")];
    case "compaction":
      return readSummary(block, context);
    case "fallback":
      context.dropped("messages.content.fallback");
      return [];
    default:
      if (!HOSTED.test(type)) throw unsupportedBlock(block, context);
      return [writeHostedCall(block, `messages.content.${type}`, context)];
  }
}

/**
 * Returns the vendor's summary of the earlier conversation. Without one, the compaction failed and nothing is replaced.
 */
function readSummary(block: JsonObject, context: BridgeContext): string[] {
  const summary = anyText(block, "content");
  if (summary === "" && isSet(block["encrypted_content"])) throw unsupportedBlock(block, context);
  if (summary === "") context.dropped("messages.content.compaction");
  return summary === "" ? [] : [`${summary}\n`];
}

function toToolCall(block: JsonObject): JsonObject {
  return compact({
    id: anyText(block, "id"),
    type: "function",
    function: { name: chatName(anyText(block, "name")), arguments: JSON.stringify(block["input"] ?? {}) },
    fw_cache_control: block["cache_control"] ?? undefined,
  });
}
