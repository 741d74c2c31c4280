import { isLoadedId, withCallIdFor } from "./call-ids.ts";
import { eachObject, omitMembers } from "./json-edit.ts";
import { anyText, isObject, list, object, text } from "./read.ts";
import type { JsonObject } from "./types.ts";

/**
 * True if an item of `delta.tool_calls` begins another call than the known one with its index: some servers use index 0
 * for every call and send each one whole, so a new id with a name is a new call. `knownId` is "" if there is none.
 */
export function isAnotherCall(delta: JsonObject, knownId: string): boolean {
  const id = anyText(delta, "id");
  if (id === "" || knownId === "" || id === knownId) return false;
  return anyText(object(delta, "function") ?? object(delta, "custom"), "name") !== "";
}

/**
 * Returns a chat request whose calls have the ids that this model's upstream knows; the same object if they already do.
 * `findCallExtra` returns what is added to a call, by the id that the client sent.
 */
export function withCallIdsFor(
  model: string,
  body: JsonObject,
  findCallExtra: (id: string) => JsonObject | undefined = () => undefined,
): JsonObject {
  if (!list(body, "messages").some((message) => isObject(message) && isLoaded(message))) return body;
  return eachObject(body, "messages", (message) =>
    eachObject(withCallIdFor(model, message, "tool_call_id"), "tool_calls", (call) => {
      const extra = findCallExtra(anyText(call, "id"));
      const known = withSignatureFor(model, withCallIdFor(model, call, "id"));
      return extra === undefined ? known : { ...known, extra_content: extra };
    }),
  );
}

/** True if a message holds a loaded id. Results are enough: every call of a history has one, with the call's id. */
function isLoaded(message: JsonObject): boolean {
  if (isLoadedId(text(message, "tool_call_id"))) return true;
  return list(message, "tool_calls").some((call) => isObject(call) && isSigned(call));
}

function isSigned(call: JsonObject): boolean {
  return object(object(call, "extra_content"), "google") !== undefined;
}

/**
 * Removes the member for the signature of Google's chat endpoint, unless the model takes it: other vendors refuse it.
 */
function withSignatureFor(model: string, call: JsonObject): JsonObject {
  return isSigned(call) && !/gemini/i.test(model) ? omitMembers(call, ["extra_content"]) : call;
}
