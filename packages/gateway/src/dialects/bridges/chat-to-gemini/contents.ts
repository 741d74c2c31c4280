import { NO_SIGNATURE, splitSignature } from "../../core/call-ids.ts";
import { compact, isObject, object, objects, text } from "../../core/read.ts";
import type { BridgeContext } from "../../core/bridge.ts";
import type { JsonObject } from "../../core/types.ts";
import { parseJson } from "../../../lib/text/json.ts";
import { readArguments, parseArguments } from "../parts/tools/arguments.ts";
import type { GeminiModel } from "../parts/models/gemini-models.ts";
import { openSignatures, signatureIn } from "../parts/reasoning/sealed-signatures.ts";
import { calledIn } from "../parts/tools/chat-tools.ts";
import { unsupportedPart } from "../parts/answer/refused.ts";
import { contentParts, textPart, withImages } from "./parts.ts";

const FIRST_WITH_SIGNATURES = 300;

interface Turn {
  readonly role: "user" | "model";
  readonly parts: JsonObject[];
  /** True for a turn of tool results, which must hold nothing else. */
  readonly isResult: boolean;
}

interface Call {
  readonly id: string;
  readonly name: string;
}

/**
 * Returns the turns of a chat; neighbouring messages of one role become one turn, results are in the order of calls.
 */
export function toGeminiContents(
  messages: readonly JsonObject[],
  model: GeminiModel,
  context: BridgeContext,
): JsonObject[] {
  const turns: Turn[] = [];
  let calls: readonly Call[] = [];
  let results: { readonly id: string; readonly part: JsonObject }[] = [];
  let shown: JsonObject[] = [];
  const flush = () => {
    if (results.length === 0) return;
    const order = (id: string) => calls.findIndex((call) => call.id === id);
    const parts = results.toSorted((a, b) => order(a.id) - order(b.id)).map(({ part }) => part);
    turns.push({ role: "user", parts, isResult: true });
    append(turns, { role: "user", parts: shown, isResult: false });
    results = [];
    shown = [];
  };
  for (const message of messages) {
    const role = text(message, "role");
    if (role === "tool" || role === "function") {
      results.push(toToolResult(message, calls));
      shown.push(...toMediaParts(message, context));
      continue;
    }
    flush();
    if (role !== "assistant" && role !== "user") throw unsupportedPart(`messages.role.${role ?? "unknown"}`, context);
    if (role === "assistant") calls = listToolCalls(message);
    append(turns, role === "assistant" ? modelTurn(message, model, context) : userTurn(message, context));
  }
  flush();
  return turns.map(({ role, parts }) => ({ role, parts }));
}

function append(turns: Turn[], turn: Turn): void {
  if (turn.parts.length === 0) return;
  const last = turns.at(-1);
  if (last?.role === turn.role && !last.isResult) last.parts.push(...turn.parts);
  else turns.push(turn);
}

function userTurn(message: JsonObject, context: BridgeContext): Turn {
  return { role: "user", parts: contentParts(message["content"], context), isResult: false };
}

function modelTurn(message: JsonObject, model: GeminiModel, context: BridgeContext): Turn {
  const refusal = text(message, "refusal");
  const parts = [
    ...contentParts(message["content"], context)
      .flatMap(withImages)
      .map((part) => signedImage(part, model)),
    ...(refusal === undefined ? [] : textPart(refusal)),
    ...callParts(message, model, context),
  ];
  return { role: "model", parts, isResult: false };
}

/**
 * Adds Google's value for unknown signatures to an image: models that draw require the signatures of their pictures
 * again, which chat has no place for.
 */
function signedImage(part: JsonObject, model: GeminiModel): JsonObject {
  const isAsked = part["inlineData"] !== undefined && model.version >= FIRST_WITH_SIGNATURES;
  return isAsked ? { ...part, thoughtSignature: NO_SIGNATURE } : part;
}

function listToolCalls(message: JsonObject): Call[] {
  return toolCalls(message).map((call) => ({
    id: text(call, "id") ?? "",
    name: text(object(call, "function") ?? object(call, "custom"), "name") ?? "",
  }));
}

function toolCalls(message: JsonObject): readonly JsonObject[] {
  const legacy = object(message, "function_call");
  return legacy === undefined
    ? objects(message, "tool_calls")
    : [...objects(message, "tool_calls"), { function: legacy }];
}

/** Returns the calls of a turn; the first one must have its signature, or state that there is none. */
function callParts(message: JsonObject, model: GeminiModel, context: BridgeContext): JsonObject[] {
  const sealed = openSignatures(message);
  return toolCalls(message).map((call, index) => {
    const target = calledIn(call, context);
    const { id, signature } = splitSignature(text(call, "id") ?? "");
    const known = text(call, "fw_signature") ?? signatureIn(call) ?? sealed.get(id) ?? signature;
    const isAsked = index === 0 && model.version >= FIRST_WITH_SIGNATURES;
    return compact({
      functionCall: {
        name: text(target, "name") ?? "",
        args: parseArguments(readArguments(target)),
      },
      thoughtSignature: known ?? (isAsked ? NO_SIGNATURE : undefined),
    });
  });
}

function toToolResult(message: JsonObject, calls: readonly Call[]): { id: string; part: JsonObject } {
  const id = text(message, "tool_call_id") ?? "";
  const name = calls.find((call) => call.id === id)?.name ?? text(message, "name") ?? "";
  return { id, part: { functionResponse: { name, response: toFunctionResponse(message) } } };
}

/** Returns the pictures of a tool message, which follow all results of the turn, because a response holds only text. */
function toMediaParts(message: JsonObject, context: BridgeContext): JsonObject[] {
  const parts = objects(message, "content").filter(({ type }) => type !== "text" && type !== "refusal");
  return contentParts(parts, context);
}

/** Builds a response: a JSON object is used as it is; anything else is put under `output`. */
function toFunctionResponse(message: JsonObject): JsonObject {
  const content = message["content"];
  const key = message["fw_is_error"] === true ? "error" : "output";
  const written =
    typeof content === "string"
      ? content
      : objects(message, "content")
          .map((part) => text(part, "text") ?? text(part, "refusal") ?? "")
          .join("");
  const value = parseJson(written);
  return isObject(value) ? value : { [key]: written };
}
