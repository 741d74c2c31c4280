import { gObject, gText, gValue, systemParts } from "../../gemini-generate/fields.ts";
import { anyText, compact, isObject, isSet, object, objects, text } from "../../core/read.ts";
import type { BridgeContext } from "../../core/bridge.ts";
import type { JsonObject, JsonValue } from "../../core/types.ts";
import { dataUrl } from "../parts/content/data-url.ts";
import { unsupportedPart } from "../parts/answer/refused.ts";
import { fenced } from "../parts/content/code-fence.ts";
import { writeHostedCall } from "../parts/content/hosted-text.ts";
import { newCallId } from "../parts/answer/ids.ts";

interface OpenCall {
  readonly id: string;
  readonly name: string;
}

/**
 * Returns the chat messages of a conversation. Calls without ids get new ones; results find them by name and position.
 */
export function toChatMessages(body: JsonObject, context: BridgeContext): JsonObject[] {
  const messages: JsonObject[] = [];
  const system = systemParts(body)
    .map((part) => {
      if (text(part, "text") === undefined)
        throw unsupportedPart(`systemInstruction.parts.${findContentMember(part)}`, context);
      return anyText(part, "text");
    })
    .filter((part) => part !== "");
  if (system.length > 0) messages.push({ role: "system", content: system.join("\n\n") });
  let open: OpenCall[] = [];
  for (const { isModel, parts } of listTurns(body)) {
    if (isModel) {
      const message = assistantMessage(parts, context);
      open = objects(message, "tool_calls").map((call) => ({
        id: anyText(call, "id"),
        name: anyText(object(call, "function"), "name"),
      }));
      if (message !== undefined) messages.push(message);
    } else messages.push(...userMessages(parts, open, context));
  }
  return messages;
}

interface Turn {
  readonly isModel: boolean;
  readonly parts: readonly JsonObject[];
}

/**
 * Joins neighbouring contents to turns. Clients store a streamed answer as one content per event, and some store each
 * result as one. Neighbouring contents of the model are one turn, and so are results, because nothing may be between
 * them in a chat.
 */
function listTurns(body: JsonObject): readonly Turn[] {
  const turns: Turn[] = [];
  for (const content of objects(body, "contents")) {
    const isModel = text(content, "role") === "model";
    const parts = objects(content, "parts");
    const last = turns.at(-1);
    const isNext = last?.isModel === isModel && (isModel || (hasResult(last.parts) && hasResult(parts)));
    if (isNext) turns[turns.length - 1] = { isModel, parts: [...last.parts, ...parts] };
    else turns.push({ isModel, parts });
  }
  return turns;
}

function hasResult(parts: readonly JsonObject[]): boolean {
  return parts.some((part) => gObject(part, "functionResponse") !== undefined);
}

function userMessages(parts: readonly JsonObject[], open: OpenCall[], context: BridgeContext): JsonObject[] {
  const answers = parts.map((part) => gObject(part, "functionResponse")).filter(isObject);
  const results = answers.flatMap((result) => resultMessage(result, open));
  const shown = answers.flatMap((result) => objects(result, "parts"));
  const others = [...shown, ...parts.filter((part) => gObject(part, "functionResponse") === undefined)].flatMap(
    (part) => userPart(part, context),
  );
  return others.length === 0 ? results : [...results, { role: "user", content: plainOr(others) }];
}

function plainOr(parts: readonly JsonObject[]): JsonValue {
  const [only] = parts;
  return parts.length === 1 && only?.["type"] === "text" ? anyText(only, "text") : [...parts];
}

/**
 * Converts a result. A chat tool message holds only text, so media of a result follow in a user message. Clients invent
 * ids for calls that had none, so such a result is matched by its name.
 */
function resultMessage(result: JsonObject, open: OpenCall[]): JsonObject[] {
  const name = anyText(result, "name");
  const id = anyText(result, "id");
  const known = open.findIndex((call) => call.id === id);
  const at = known < 0 ? open.findIndex((call) => call.name === name) : known;
  const [call] = at < 0 ? [] : open.splice(at, 1);
  const response = object(result, "response") ?? {};
  const isError = Object.keys(response).length === 1 && response["error"] !== undefined;
  return [
    compact({
      role: "tool",
      tool_call_id: call?.id ?? (id || newCallId()),
      content: unwrapResult(response, name),
      fw_is_error: isError ? true : undefined,
    }),
  ];
}

/** Returns a result as text; unwraps a plain result that the SDKs have wrapped. */
function unwrapResult(response: JsonObject, name: string): string {
  const value = wrapped(response, name) ?? response;
  return typeof value === "string" ? value : JSON.stringify(value);
}

function wrapped(response: JsonObject, name: string): JsonValue | undefined {
  const keys = Object.keys(response);
  const [only] = keys.length === 1 ? ["output", "result", "error"].filter((key) => response[key] !== undefined) : [];
  if (only !== undefined) return response[only];
  return keys.length === 2 && response["name"] === name ? response["content"] : undefined;
}

/** Members that tune how a part is read, and notes of clients about it. */
const TUNING = [
  "videoMetadata",
  "mediaResolution",
  "mediaProcessing",
  "partMetadata",
  "speechMetadata",
  "thought",
  "thoughtSignature",
];

/** Returns the name of a part's content member; undefined if it has none. */
function findContentMember(part: JsonObject): string | undefined {
  return Object.keys(part).find((name) => isSet(part[name]) && !TUNING.includes(withHumps(name)));
}

function withHumps(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}

function noteTuning(part: JsonObject, context: BridgeContext): void {
  for (const name of TUNING.slice(0, 5)) if (isSet(gValue(part, name))) context.dropped(`contents.parts.${name}`);
}

function userPart(part: JsonObject, context: BridgeContext): JsonObject[] {
  noteTuning(part, context);
  const written = text(part, "text");
  if (written !== undefined) return written === "" ? [] : [{ type: "text", text: written }];
  const inline = gObject(part, "inlineData");
  if (inline !== undefined && isSet(gValue(inline, "displayName"))) context.dropped("contents.parts.displayName");
  if (inline !== undefined) return [inlinePart(gText(inline, "mimeType") ?? "", anyText(inline, "data"))];
  const file = gObject(part, "fileData");
  if (file !== undefined) return [filePart(gText(file, "mimeType") ?? "", gText(file, "fileUri") ?? "")];
  const content = findContentMember(part);
  if (content !== undefined) throw unsupportedPart(`contents.parts.${content}`, context);
  return [];
}

function inlinePart(type: string, data: string): JsonObject {
  if (type.startsWith("image/")) return { type: "image_url", image_url: { url: dataUrl(type, data) } };
  if (type.startsWith("audio/")) return { type: "input_audio", input_audio: { data, format: soundFormat(type) } };
  if (type.startsWith("text/")) return { type: "text", text: Buffer.from(data, "base64").toString("utf8") };
  if (type.startsWith("video/")) return { type: "video_url", video_url: { url: dataUrl(type, data) } };
  return {
    type: "file",
    file: { filename: type === "application/pdf" ? "document.pdf" : "file", file_data: dataUrl(type, data) },
  };
}

const SOUNDS: Readonly<Record<string, string>> = { mpeg: "mp3", mpga: "mp3", "x-wav": "wav", wave: "wav" };

/** Returns the sound's format: chat knows only the names `wav` and `mp3`. */
function soundFormat(type: string): string {
  const name = type.slice("audio/".length).split(";")[0] ?? "";
  return SOUNDS[name] ?? name;
}

function filePart(type: string, url: string): JsonObject {
  if (type.startsWith("image/")) return { type: "image_url", image_url: { url } };
  if (type.startsWith("video/")) return { type: "video_url", video_url: { url } };
  return { type: "file", file: { filename: "document.pdf", fw_url: url } };
}

/** Returns a part as text; code that the vendor ran and its output are written as in answers of the other direction. */
function formatPart(part: JsonObject, context: BridgeContext): string {
  noteTuning(part, context);
  const code = gObject(part, "executableCode");
  if (code !== undefined) return fenced(anyText(code, "language").toLowerCase(), anyText(code, "code"));
  const result = gObject(part, "codeExecutionResult");
  if (result !== undefined) return fenced("", anyText(result, "output"));
  for (const name of HOSTED)
    if (gObject(part, name) !== undefined)
      return writeHostedCall({ [name]: gObject(part, name) }, `contents.parts.${name}`, context);
  const content = findContentMember(part);
  if (content !== undefined && !SPOKEN.has(withHumps(content)))
    throw unsupportedPart(`contents.parts.${withHumps(content)}`, context);
  return anyText(part, "text");
}

/** Calls of tools that the vendor ran. */
const HOSTED = ["toolCall", "toolResponse"];
const SPOKEN = new Set(["text", "functionCall"]);

/** Builds an assistant message. Signed thoughts retain their signature for upstreams that require it. */
function assistantMessage(parts: readonly JsonObject[], context: BridgeContext): JsonObject | undefined {
  const thinking = signedThoughts(parts);
  const texts = parts.filter((part) => part["thought"] !== true).map((part) => formatPart(part, context));
  const calls = parts.flatMap(toToolCalls);
  const content = texts.join("");
  if (content === "" && calls.length === 0) return undefined;
  return compact({
    role: "assistant",
    content: content === "" ? null : content,
    tool_calls: calls.length === 0 ? undefined : calls,
    fw_thinking: thinking.length === 0 ? undefined : thinking,
  });
}

/**
 * Joins the pieces of streamed thoughts, whose last piece is signed. Unsigned thoughts remain: open models read them.
 */
function signedThoughts(parts: readonly JsonObject[]): JsonObject[] {
  const blocks: JsonObject[] = [];
  let thinking = "";
  for (const part of parts.filter((each) => each["thought"] === true)) {
    thinking += anyText(part, "text");
    const signature = gText(part, "thoughtSignature");
    if (signature === undefined) continue;
    blocks.push({ type: "thinking", thinking, signature: standardBase64(signature) });
    thinking = "";
  }
  if (thinking !== "") blocks.push({ type: "thinking", thinking, signature: "" });
  return blocks;
}

/**
 * Converts a signature to standard base64. Google's Python client writes base64url, but the signer compares letters.
 */
function standardBase64(signature: string): string {
  return /^[\w=-]+$/.test(signature) ? signature.replaceAll("-", "+").replaceAll("_", "/") : signature;
}

function toToolCalls(part: JsonObject): JsonObject[] {
  const call = gObject(part, "functionCall");
  if (call === undefined) return [];
  const id = text(call, "id");
  const args = JSON.stringify(call["args"] ?? {});
  return [
    {
      id: id === undefined || id === "" ? newCallId() : id,
      type: "function",
      function: { name: anyText(call, "name"), arguments: args },
    },
  ];
}
