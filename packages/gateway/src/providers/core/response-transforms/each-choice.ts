import type { JsonObject, StreamEvent } from "../../../dialects/core/types.ts";
import { isObject } from "../../../lib/text/json.ts";
import { eachObject } from "../../../dialects/core/json-edit.ts";

type Edit = (value: JsonObject) => JsonObject;

/** Edits every choice of a chat answer or chunk; returns the same object if no choice changes. */
export function eachChoice(body: JsonObject, edit: Edit): JsonObject {
  return eachObject(body, "choices", edit);
}

/** Edits the message of every choice, or its delta in a chunk. */
export function eachMessage(
  body: JsonObject,
  edit: (message: JsonObject, choice: JsonObject) => JsonObject,
): JsonObject {
  return eachChoice(body, (choice) => {
    const member = isObject(choice["delta"]) ? "delta" : "message";
    const message = choice[member];
    if (!isObject(message)) return choice;
    const edited = edit(message, choice);
    return edited === message ? choice : { ...choice, [member]: edited };
  });
}

/** Renames finish reasons that no client knows to known ones. */
export function finishReasons(names: Readonly<Record<string, string>>): Edit {
  return (body) =>
    eachChoice(body, (choice) => {
      const reason = choice["finish_reason"];
      const known = typeof reason === "string" ? names[reason] : undefined;
      return known === undefined ? choice : { ...choice, finish_reason: known };
    });
}

/** Turns an edit of bodies into an edit of events. */
export function onEvent(edit: Edit): (event: StreamEvent) => StreamEvent {
  return (event) => {
    const edited = event.data && edit(event.data);
    return edited === undefined || edited === event.data ? event : { event: event.event, data: edited, raw: "" };
  };
}
