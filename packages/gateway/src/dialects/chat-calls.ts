import { anyText, object } from "./read.ts";
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
