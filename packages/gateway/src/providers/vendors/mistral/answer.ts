import type { JsonObject } from "../../../dialects/core/types.ts";
import { count, isObject, object, objects, text } from "../../../dialects/core/read.ts";
import { eachObject } from "../../../dialects/core/json-edit.ts";
import { eachMessage, finishReasons, onEvent } from "../../core/response-transforms/each-choice.ts";
import type { ResponseTransform } from "../../core/types.ts";

const stopNames = finishReasons({ model_length: "length", error: "stop" });

export const mistralAnswer: ResponseTransform = {
  name: "content parts, tool calls and finish reasons of Mistral",
  marks: [
    '"model_length"',
    '"error"',
    '"content":[',
    '"content": [',
    '"tool_calls"',
    '"num_cached_tokens"',
    '"prompt_token_details"',
  ],
  answer: (body) => edit(body, () => undefined),
  stream() {
    const findCallIndex = createIndex();
    return onEvent((chunk) => edit(chunk, findCallIndex));
  },
};

/** Returns the index of a call in its choice; undefined if the position in the list shows it. */
type IndexOf = (call: JsonObject, choice: JsonObject) => number | undefined;

/** Numbers the calls: each arrives whole, with an id of its own, in one chunk or in several. */
function createIndex(): IndexOf {
  const idsByChoice = new Map<number, string[]>();
  return (call, choice) => {
    const at = count(choice, "index") ?? 0;
    const ids = idsByChoice.get(at) ?? [];
    idsByChoice.set(at, ids);
    const id = text(call, "id") ?? "";
    const known = ids.indexOf(id);
    return known < 0 ? ids.push(id) - 1 : known;
  };
}

function edit(body: JsonObject, findCallIndex: IndexOf): JsonObject {
  return cachedTokens(
    eachMessage(stopNames(body), (message, choice) =>
      toolCalls(content(message), (call) => findCallIndex(call, choice)),
    ),
  );
}

/** Converts a list of text and thinking parts to the text and `reasoning_content`. */
function content(message: JsonObject): JsonObject {
  if (!Array.isArray(message["content"])) return message;
  const parts = objects(message, "content");
  const joinTexts = (entries: readonly JsonObject[]) => entries.map((part) => text(part, "text") ?? "").join("");
  const thought = parts
    .filter((part) => part["type"] === "thinking")
    .map((part) => joinTexts(objects(part, "thinking")))
    .join("");
  return {
    ...message,
    content: joinTexts(parts.filter((part) => part["type"] === "text")),
    ...(thought === "" ? {} : { reasoning_content: thought }),
  };
}

function toolCalls(message: JsonObject, findCallIndex: (call: JsonObject) => number | undefined): JsonObject {
  return eachObject(message, "tool_calls", (call) => {
    const index = call["index"] === undefined ? findCallIndex(call) : undefined;
    const isComplete = call["type"] !== undefined && index === undefined;
    return written(isComplete ? call : { ...(index === undefined ? {} : { index }), type: "function", ...call });
  });
}

/** Writes arguments as text; the vendor may send an object. */
function written(call: JsonObject): JsonObject {
  const named = object(call, "function");
  const args = object(named, "arguments");
  return args ? { ...call, function: { ...named, arguments: JSON.stringify(args) } } : call;
}

/** Reads cached tokens, for which three spellings are in use. */
function cachedTokens(body: JsonObject): JsonObject {
  const usage = object(body, "usage");
  if (!usage || isObject(usage["prompt_tokens_details"])) return body;
  const cached = count(usage, "num_cached_tokens") ?? count(object(usage, "prompt_token_details"), "cached_tokens");
  return cached === undefined
    ? body
    : { ...body, usage: { ...usage, prompt_tokens_details: { cached_tokens: cached } } };
}
