import { isObject } from "../../lib/json.ts";
import type { JsonObject, StreamEvent } from "../../dialects/types.ts";

type Edit = (value: JsonObject) => JsonObject;

/** Edits every choice of a chat answer or chunk; the same object when no choice changes. */
export function eachChoice(body: JsonObject, edit: Edit): JsonObject {
  const choices = body["choices"];
  if (!Array.isArray(choices)) return body;
  let hasChanged = false;
  const edited = choices.map((choice) => {
    const result = isObject(choice) ? edit(choice) : choice;
    hasChanged ||= result !== choice;
    return result;
  });
  return hasChanged ? { ...body, choices: edited } : body;
}

/** Edits the message of every choice, or its delta in a chunk. */
export function eachMessage(body: JsonObject, edit: Edit): JsonObject {
  return eachChoice(body, (choice) => {
    const member = isObject(choice["delta"]) ? "delta" : "message";
    const message = choice[member];
    if (!isObject(message)) return choice;
    const edited = edit(message);
    return edited === message ? choice : { ...choice, [member]: edited };
  });
}

/** An edit of bodies as an edit of events. */
export function onEvent(edit: Edit): (event: StreamEvent) => StreamEvent {
  return (event) => {
    const edited = event.data && edit(event.data);
    return edited === undefined || edited === event.data ? event : { event: event.event, data: edited, raw: "" };
  };
}

/** The object without some members; the same object when it has none of them. */
export function without(from: JsonObject, names: readonly string[]): JsonObject {
  if (!names.some((name) => from[name] !== undefined)) return from;
  const rest = { ...from };
  for (const name of names) delete rest[name];
  return rest;
}
