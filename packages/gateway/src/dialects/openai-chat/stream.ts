import { encodeBlock } from "../../lib/text/sse.ts";
import { isAnotherCall } from "../core/chat-calls.ts";
import { anyText, compact, isObject, isSet, list, object, objects, text } from "../core/read.ts";
import type { RequestSpec, JsonObject, JsonValue, Usage } from "../core/types.ts";
import { chatUsage } from "../core/usage.ts";

export const DONE = Buffer.from("data: [DONE]\n\n");

/** Builds the members of a chunk or answer that every event repeats. */
function buildEnvelope(answer: JsonObject, kind: string): JsonObject {
  const { choices: _choices, usage: _usage, object: _object, ...rest } = answer;
  return { ...rest, object: kind };
}

/** Encodes a whole chat answer as the chunks of a stream. */
export function encodeChunks(answer: JsonObject, spec: RequestSpec): Buffer {
  const envelope = buildEnvelope(answer, "chat.completion.chunk");
  const usage = object(answer, "usage");
  const chunks: JsonObject[] = objects(answer, "choices")
    .flatMap(toChunkChoices)
    .map((choice) => ({ ...envelope, choices: [choice] }));
  if (spec.wantsStreamUsage && usage !== undefined) chunks.push({ ...envelope, choices: [], usage });
  return Buffer.from(chunks.map((chunk) => encodeBlock(JSON.stringify(chunk))).join(""));
}

function toChunkChoices(choice: JsonObject): JsonObject[] {
  const message = object(choice, "message");
  const { role, content, tool_calls: _calls, ...others } = message ?? {};
  const calls = objects(message, "tool_calls");
  const rest = Object.fromEntries(Object.entries(others).filter(([, value]) => isSet(value)));
  const logprobs = isSet(choice["logprobs"]) ? { logprobs: choice["logprobs"] } : {};
  const deltas: JsonObject[] = [{ delta: { role: role ?? "assistant", ...(calls.length === 0 && { content: "" }) } }];
  if (Object.keys(rest).length > 0) deltas.push({ delta: rest });
  if (typeof content === "string" && content !== "") deltas.push({ delta: { content }, ...logprobs });
  if (calls.length > 0) deltas.push({ delta: { tool_calls: calls.map((call, index) => ({ index, ...call })) } });
  deltas.push({ delta: {}, finish_reason: choice["finish_reason"] ?? "stop" });
  return deltas.map((delta) => ({ index: choice["index"] ?? 0, finish_reason: null, ...delta }));
}

/** Builds a chunk with usage and no choices, with the id and model of the stream that `last` belongs to. */
export function usageChunk(usage: Usage, last: JsonObject | undefined, kind: string): Buffer {
  const named = last === undefined ? {} : compact({ id: last["id"], created: last["created"], model: last["model"] });
  return Buffer.from(encodeBlock(JSON.stringify({ ...named, object: kind, choices: [], usage: chatUsage(usage) })));
}

interface ChoiceParts {
  readonly message: JsonObject;
  readonly calls: JsonObject[];
  readonly logprobs: JsonValue[];
  finish: JsonValue;
}

/** Assembles the whole chat answer from chunks; undefined if none of the events is a chunk. */
export function assembleChunks(events: readonly JsonObject[]): JsonObject | undefined {
  const chunks = events.filter((event) => Array.isArray(event["choices"]));
  if (chunks.length === 0) return undefined;
  const parts = new Map<number, ChoiceParts>();
  let envelope: JsonObject = {};
  let usage: JsonValue | undefined;
  for (const chunk of chunks) {
    envelope = { ...chunk, ...envelope };
    if (isSet(chunk["usage"])) usage = chunk["usage"];
    for (const choice of objects(chunk, "choices")) {
      mergeChoice(parts, choice);
      if (isSet(choice["usage"])) usage = choice["usage"];
    }
  }
  const { obfuscation: _obfuscation, ...named } = buildEnvelope(envelope, "chat.completion");
  const choices = [...parts].sort(([a], [b]) => a - b).map(([index, part]) => buildChoice(index, part));
  return { ...named, choices, ...(usage !== undefined && { usage }) };
}

function mergeChoice(parts: Map<number, ChoiceParts>, choice: JsonObject): void {
  const index = typeof choice["index"] === "number" ? choice["index"] : 0;
  const part = parts.get(index) ?? {
    message: { role: "assistant", content: null },
    calls: [],
    logprobs: [],
    finish: null,
  };
  parts.set(index, part);
  if (isSet(choice["finish_reason"])) part.finish = choice["finish_reason"];
  part.logprobs.push(...list(object(choice, "logprobs"), "content"));
  const delta = object(choice, "delta") ?? object(choice, "message") ?? {};
  for (const [key, value] of Object.entries(delta)) {
    if (key === "tool_calls") mergeCalls(part.calls, objects(delta, key));
    else if (key !== "role") part.message[key] = merged(part.message[key], value);
  }
}

function merged(before: JsonValue | undefined, value: JsonValue | undefined): JsonValue | undefined {
  if (!isSet(value)) return before ?? value;
  if (typeof before === "string" && typeof value === "string") return before + value;
  if (Array.isArray(before) && Array.isArray(value)) return [...before, ...value];
  if (isObject(before) && isObject(value)) {
    const out: JsonObject = { ...before };
    for (const [key, inner] of Object.entries(value)) out[key] = merged(before[key], inner);
    return out;
  }
  return value;
}

function mergeCalls(calls: JsonObject[], deltas: readonly JsonObject[]): void {
  for (const { index, ...delta } of deltas) {
    const at = callIndex(calls, index, delta);
    const call = calls[at] ?? { id: "", type: "function" };
    const target = object(delta, "function");
    const known = object(call, "function") ?? { name: "", arguments: "" };
    calls[at] = {
      ...call,
      ...compact({ ...delta, function: undefined, id: text(delta, "id") || undefined }),
      ...(target !== undefined && {
        function: {
          ...known,
          ...target,
          name: (text(known, "name") ?? "") || (text(target, "name") ?? ""),
          arguments: (text(known, "arguments") ?? "") + (text(target, "arguments") ?? ""),
        },
      }),
    };
  }
}

/**
 * Returns the index of a call. Vendors that leave the index out, or write 0 for all calls, send every call whole, so a
 * new id is a new call.
 */
function callIndex(calls: readonly JsonObject[], index: JsonValue | undefined, delta: JsonObject): number {
  const id = text(delta, "id") || undefined;
  const isNumbered = typeof index === "number" && index >= 0 && index <= calls.length;
  if (isNumbered && !isAnotherCall(delta, anyText(calls[index], "id"))) return index;
  const known = calls.findIndex((call) => id !== undefined && call["id"] === id);
  if (known >= 0) return known;
  return id === undefined && calls.length > 0 ? calls.length - 1 : calls.length;
}

function buildChoice(index: number, part: ChoiceParts): JsonObject {
  const message = part.calls.length > 0 ? { ...part.message, tool_calls: part.calls } : part.message;
  return {
    index,
    message,
    ...(part.logprobs.length > 0 && { logprobs: { content: part.logprobs } }),
    finish_reason: part.finish,
  };
}
