import { isLoadedId, withCallIdFor } from "./call-ids.ts";
import { eachObject, omitMembers } from "./json-edit.ts";
import { anyText, isObject, list, object, text } from "./read.ts";
import type { JsonObject } from "./types.ts";

/**
 * Whether an item of `delta.tool_calls` begins another call than the one of its number: some servers number every
 * call 0 and send each of them whole, so a new id with a name is a new call. `knownId` is "" where none was given.
 */
export function isAnotherCall(delta: JsonObject, knownId: string): boolean {
  const id = anyText(delta, "id");
  if (id === "" || knownId === "" || id === knownId) return false;
  return anyText(object(delta, "function") ?? object(delta, "custom"), "name") !== "";
}

/**
 * A chat request whose calls have the ids that this model's upstream knows; the very same one where they have. `findCallExtra`
 * reports what a call gets besides, by the id that the client sent.
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

/** Every call of a history has its result, whose id is that of the call. */
function isLoaded(message: JsonObject): boolean {
  if (isLoadedId(text(message, "tool_call_id"))) return true;
  return list(message, "tool_calls").some((call) => isObject(call) && isSigned(call));
}

function isSigned(call: JsonObject): boolean {
  return object(object(call, "extra_content"), "google") !== undefined;
}

/** Other vendors refuse the member in which Google's chat endpoint has a signature. */
function withSignatureFor(model: string, call: JsonObject): JsonObject {
  return isSigned(call) && !/gemini/i.test(model) ? omitMembers(call, ["extra_content"]) : call;
}
