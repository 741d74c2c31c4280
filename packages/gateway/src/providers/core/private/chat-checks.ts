// Checks of chat requests that are converted to a vendor's own protocol: members that the model would miss are refused,
// members that only tune the answer are reported as dropped.
import { readPartKind, unsupportedPart } from "../../../dialects/bridges/parts/answer/refused.ts";
import { checkFormat } from "../../../dialects/bridges/parts/schemas/format.ts";
import { isObject, isSet, list, object, objects, text } from "../../../dialects/core/read.ts";
import type { BridgeContext } from "../../../dialects/core/bridge.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { unsupportedParameter } from "../../../lib/app-error.ts";

const ROLES = new Set(["system", "developer", "user", "assistant", "tool", "function"]);
const TEXTS = new Set(["text", "refusal"]);

/**
 * Refuses parts that the vendor does not take. Media may be only in user turns: images if the model sees them, and the
 * kinds in `further`.
 */
export function checkChatParts(
  body: JsonObject,
  context: BridgeContext,
  seesImages: boolean,
  further: readonly string[] = [],
): void {
  const media = new Set([...(seesImages ? ["image_url"] : []), ...further]);
  for (const message of objects(body, "messages")) {
    const role = text(message, "role") ?? "user";
    if (!ROLES.has(role)) throw unsupportedPart(`messages.role.${role}`, context);
    for (const part of objects(message, "content")) {
      const kind = readPartKind(part);
      if (!TEXTS.has(kind) && !(role === "user" && media.has(kind)))
        throw unsupportedPart(`messages.content.${kind}`, context);
    }
    for (const call of objects(message, "tool_calls"))
      if (!isCallable(call)) throw unsupportedPart(`messages.tool_calls.${readPartKind(call)}`, context);
  }
}

function isCallable(from: JsonObject): boolean {
  return object(from, "function") !== undefined || object(from, "custom") !== undefined;
}

/** Checks the members of a request. `known` are the members that the vendor's protocol has an equivalent for. */
export function checkChatFields(body: JsonObject, context: BridgeContext, known: readonly string[]): void {
  const answers = body["n"];
  if (typeof answers === "number" && answers > 1 && !known.includes("n")) throw unsupportedParameter("n");
  const audio = body["audio"];
  if (isObject(audio) && list(body, "modalities").includes("audio")) throw unsupportedParameter("modalities");
  checkTools(body, context, known.includes("tools"));
  checkFormat(body, context, known.includes("response_format"));
  for (const member of Object.keys(body)) {
    const name = member === "fw_top_k" ? "top_k" : member;
    const isDefault = name === "response_format" && text(object(body, name), "type") === "text";
    if (isSet(body[member]) && !isDefault && !isRead(name, known)) context.dropped(name);
  }
}

/** Checks functions and free-text tools; a tool that may not be called can be left out. */
function checkTools(body: JsonObject, context: BridgeContext, takesTools: boolean): void {
  const tools = objects(body, "tools");
  const other = tools.find((tool) => object(tool, "function") === undefined);
  if (other !== undefined) throw unsupportedPart(`tools.${readPartKind(other)}`, context);
  if (takesTools) return;
  const isOffered = tools.length > 0 || objects(body, "functions").length > 0;
  if (isOffered && body["tool_choice"] !== "none") throw unsupportedPart("tools", context);
  const hasCalled = objects(body, "messages").some(
    (message) =>
      objects(message, "tool_calls").length > 0 ||
      isSet(message["function_call"]) ||
      message["role"] === "tool" ||
      message["role"] === "function",
  );
  if (hasCalled) throw unsupportedPart("messages.tool_calls", context);
}

/** True for known members and for members that only bridges read, which no client wrote. */
function isRead(name: string, known: readonly string[]): boolean {
  return known.includes(name) || ALWAYS_READ.has(name) || name.startsWith("fw_");
}

const ALWAYS_READ: ReadonlySet<string> = new Set(["model", "messages", "stream", "stream_options", "n"]);
