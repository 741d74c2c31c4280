// Checks of chat requests that go to a vendor's own protocol: what the model would miss is refused, what only tunes is
// named as left out.
import { readPartKind, unsupportedPart } from "../../../dialects/bridges/parts/answer/refused.ts";
import { checkFormat } from "../../../dialects/bridges/parts/schemas/format.ts";
import { isObject, isSet, list, object, objects, text } from "../../../dialects/core/read.ts";
import type { BridgeContext, JsonObject } from "../../../dialects/core/types.ts";
import { unsupportedParameter } from "../../../lib/app-error.ts";

const ROLES = new Set(["system", "developer", "user", "assistant", "tool", "function"]);
const TEXTS = new Set(["text", "refusal"]);

/**
 * Refuses parts that the vendor does not take: media stand in the turns of the user alone, images where it sees them,
 * and `further` kinds.
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

/** `known` are the members that the vendor's protocol has a word for. */
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

/** Functions and free texts; a tool that no one may call can be left out. */
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

/** Members that only bridges read are nothing that a client wrote. */
function isRead(name: string, known: readonly string[]): boolean {
  return known.includes(name) || ALWAYS_READ.has(name) || name.startsWith("fw_");
}

const ALWAYS_READ: ReadonlySet<string> = new Set(["model", "messages", "stream", "stream_options", "n"]);
