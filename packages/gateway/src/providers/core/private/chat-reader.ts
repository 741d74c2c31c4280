import type { BridgeContext } from "../../../dialects/core/bridge.ts";
import type { JsonObject, JsonValue } from "../../../dialects/core/types.ts";
import { list, object, objects, text } from "../../../dialects/core/read.ts";
import { clamped } from "../../../dialects/core/json-edit.ts";
import { plainCallId } from "../../../dialects/core/call-ids.ts";
import { jsonInstructions } from "../../../dialects/bridges/parts/schemas/json-instruction.ts";
import { AppError } from "../../../lib/app-error.ts";
import { parseObject } from "../../../lib/text/json.ts";

export interface ChatToolCall {
  readonly id: string;
  readonly name: string;
  /** The arguments as JSON text, as the model wrote it. */
  readonly arguments: string;
}

/** One message of a chat request in the form that private protocols are built from. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  /** Text parts joined by a line feed. */
  readonly text: string;
  readonly images: readonly string[];
  readonly toolCalls: readonly ChatToolCall[];
  readonly toolCallId: string | undefined;
  readonly name: string | undefined;
  readonly source: JsonObject;
}

const ROLES: Readonly<Record<string, ChatMessage["role"]>> = {
  system: "system",
  developer: "system",
  user: "user",
  assistant: "assistant",
  tool: "tool",
  function: "tool",
};

export function chatMessages(body: JsonObject): ChatMessage[] {
  return objects(body, "messages").map((message) => {
    const parts = objects(message, "content");
    const written = parts.flatMap((part) => text(part, "text") ?? text(part, "refusal") ?? []);
    const refusal = text(message, "refusal");
    if (refusal !== undefined) written.push(refusal);
    return {
      role: ROLES[text(message, "role") ?? "user"] ?? "user",
      text: text(message, "content") ?? written.join("\n"),
      images: parts.flatMap((part) => listImages(part)),
      toolCalls: listToolCalls(message),
      toolCallId: readResultId(message),
      name: text(message, "name"),
      source: message,
    };
  });
}

/**
 * Returns the messages. An instruction that states the response format in words comes first, because the vendor has no
 * switch for it.
 */
export function instructedMessages(body: JsonObject): ChatMessage[] {
  const reported = jsonInstructions(body).map((content) => ({ role: "system", content }));
  return reported.length === 0
    ? chatMessages(body)
    : chatMessages({ messages: [...reported, ...list(body, "messages")] });
}

function listImages(part: JsonObject): string[] {
  if (part["type"] !== "image_url") return [];
  const url = text(object(part, "image_url"), "url") ?? text(part, "image_url");
  return url === undefined ? [] : [url];
}

function readResultId(message: JsonObject): string | undefined {
  const id = text(message, "tool_call_id");
  return id === undefined ? text(message, "name") : plainCallId(id);
}

function listToolCalls(message: JsonObject): ChatToolCall[] {
  const calls = objects(message, "tool_calls").map((call) => ({
    id: plainCallId(text(call, "id") ?? ""),
    ...(object(call, "function") ? readFunction(object(call, "function")) : freeText(object(call, "custom"))),
  }));
  const legacy = object(message, "function_call");
  return legacy ? [...calls, { id: text(legacy, "name") ?? "", ...readFunction(legacy) }] : calls;
}

function readFunction(from: JsonObject | undefined): { name: string; arguments: string } {
  return { name: text(from, "name") ?? "", arguments: text(from, "arguments") ?? "" };
}

/** Converts a call of a free-text tool to a function call with the text as its argument. */
function freeText(from: JsonObject | undefined): { name: string; arguments: string } {
  return { name: text(from, "name") ?? "", arguments: JSON.stringify({ input: text(from, "input") ?? "" }) };
}

/** Returns all system messages in order, joined by a blank line; "" if there are none. */
export function systemText(messages: readonly ChatMessage[]): string {
  return messages
    .flatMap((message) => (message.role === "system" && message.text !== "" ? [message.text] : []))
    .join("\n\n");
}

/** Returns the name of the function that a tool message answers, found through the call's id. */
export function toolName(messages: readonly ChatMessage[], id: string | undefined): string | undefined {
  for (const { toolCalls } of messages) {
    const call = toolCalls.find((candidate) => candidate.id === id);
    if (call) return call.name;
  }
  return undefined;
}

/** Parses a call's arguments; `{}` if the model wrote none or something unreadable. */
export function parseCallArguments(call: ChatToolCall): JsonObject {
  return parseObject(call.arguments) ?? {};
}

export interface ChatFunction {
  readonly name: string;
  readonly description: string | undefined;
  readonly parameters: JsonObject | undefined;
}

/** Returns the function tools, including the legacy `functions`. */
export function chatFunctions(body: JsonObject): ChatFunction[] {
  const tools = objects(body, "tools").flatMap((tool) => {
    const definition = object(tool, "function");
    return definition ? [definition] : [];
  });
  return [...tools, ...objects(body, "functions")].map((definition) => ({
    name: text(definition, "name") ?? "",
    description: text(definition, "description"),
    parameters: object(definition, "parameters"),
  }));
}

/** Returns `none`, `auto`, `required` or the name of one function. */
export function chatToolChoice(
  body: JsonObject,
): { readonly mode: "none" | "auto" | "required" } | { readonly mode: "named"; readonly name: string } | undefined {
  const choice = body["tool_choice"] ?? body["function_call"];
  if (choice === "none" || choice === "auto" || choice === "required") return { mode: choice };
  const readFunction = object(body, "tool_choice");
  const name = text(readFunction ? object(readFunction, "function") : object(body, "function_call"), "name");
  return name === undefined ? undefined : { mode: "named", name };
}

export function maxTokens(body: JsonObject): number | undefined {
  const value = body["max_completion_tokens"] ?? body["max_tokens"];
  return typeof value === "number" ? value : undefined;
}

export function stopList(body: JsonObject): string[] {
  const { stop } = body;
  if (typeof stop === "string") return [stop];
  return list(body, "stop").filter((item) => typeof item === "string");
}

/** Returns the media type and base64 of a data URL; throws for web addresses, which the vendor cannot read. */
export function imageData(url: string): { readonly mediaType: string; readonly data: string } {
  const found = /^data:([\w.+/-]+)(?:;[\w=.-]+)*;base64,(.*)$/s.exec(url);
  if (!found)
    throw new AppError("invalid_request", {
      param: "messages",
      values: { reason: "Images must be data URLs for this upstream." },
    });
  return { mediaType: found[1] ?? "", data: found[2] ?? "" };
}

/** Returns the numbers of a request, clamped to the vendor's bounds; changed ones are reported. */
export function fitNumbers(
  body: JsonObject,
  bounds: Readonly<Record<string, readonly [number, number]>>,
  context: BridgeContext,
): JsonObject {
  let fitting = body;
  for (const [name, [least, most]] of Object.entries(bounds)) {
    const changed = clamped(fitting, name, least, most);
    if (changed !== fitting) context.dropped(name);
    fitting = changed;
  }
  return fitting;
}

/** Returns `top_k` as a chat client writes it, or as another bridge carries it. */
export function topK(body: JsonObject): JsonValue | undefined {
  return body["top_k"] ?? body["fw_top_k"];
}
