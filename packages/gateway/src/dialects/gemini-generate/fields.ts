import { flag, isObject, list, number, object, objects, text } from "../core/read.ts";
import type { JsonObject, JsonValue } from "../core/types.ts";

/** Returns the spelling that is in use: Google reads every field in two spellings; `name` is in camel case. */
export function spelled(from: JsonObject | undefined, name: string): string {
  return from === undefined || from[name] !== undefined ? name : snakeCase(name);
}

/** Returns the paths of a member in all spellings of it and of its parent object. */
export function everySpelling(parent: string, name: string): string[] {
  return [parent, snakeCase(parent)].flatMap((outer) => [name, snakeCase(name)].map((inner) => `${outer}.${inner}`));
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function gText(from: JsonObject | undefined, name: string): string | undefined {
  return text(from, spelled(from, name));
}

export function gNumber(from: JsonObject | undefined, name: string): number | undefined {
  return number(from, spelled(from, name));
}

export function gFlag(from: JsonObject | undefined, name: string): boolean | undefined {
  return flag(from, spelled(from, name));
}

export function gObject(from: JsonObject | undefined, name: string): JsonObject | undefined {
  return object(from, spelled(from, name));
}

export function gList(from: JsonObject | undefined, name: string): readonly JsonValue[] {
  return list(from, spelled(from, name));
}

export function gObjects(from: JsonObject | undefined, name: string): readonly JsonObject[] {
  return objects(from, spelled(from, name));
}

export function gValue(from: JsonObject | undefined, name: string): JsonValue | undefined {
  return from?.[spelled(from, name)];
}

/**
 * Returns the parts of the system instruction: a content, its parts or a bare text, as the official clients send it.
 */
export function systemParts(body: JsonObject): JsonObject[] {
  const system = gValue(body, "systemInstruction");
  const parts = isObject(system) ? (system["parts"] ?? system) : system;
  return [parts ?? []]
    .flat()
    .flatMap((part) => (typeof part === "string" ? [{ text: part }] : isObject(part) ? [part] : []));
}

/** Returns a model's name without its collection. */
export function bareModel(name: string): string {
  return name.replace(/^(models|tunedModels)\//, "");
}
