// Edits of foreign JSON that return the same object if there is nothing to change.
import type { JsonObject, JsonValue } from "./types.ts";
import { isSet } from "./read.ts";
import { conflict } from "./requested-output.ts";
import { isObject } from "../../lib/text/json.ts";

/** Returns the object without some members. */
export function omitMembers(from: JsonObject, names: readonly string[]): JsonObject {
  if (!names.some((name) => from[name] !== undefined)) return from;
  const rest = { ...from };
  for (const name of names) delete rest[name];
  return rest;
}

/** Renames a member. Throws if a member of the new name has another value, because only one of them was checked. */
export function renamed(from: JsonObject, name: string, to: string): JsonObject {
  if (from[name] === undefined) return from;
  const { [name]: value, ...rest } = from;
  if (isSet(value) && isSet(rest[to]) && JSON.stringify(value) !== JSON.stringify(rest[to])) throw conflict(name, to);
  return { ...rest, [to]: rest[to] ?? value };
}

/** Clamps a number to bounds; members of other kinds stay as they are. */
export function clamped(from: JsonObject, name: string, min: number, max: number): JsonObject {
  const value = from[name];
  if (typeof value !== "number") return from;
  const fitting = Math.min(max, Math.max(min, value));
  return fitting === value ? from : { ...from, [name]: fitting };
}

/** Replaces one member. */
export function replaced(from: JsonObject, name: string, value: JsonValue | undefined): JsonObject {
  return from[name] === value ? from : { ...from, [name]: value };
}

/** Edits every object of a list; other items stay. */
export function eachObject(
  from: JsonObject,
  name: string,
  edit: (item: JsonObject, index: number) => JsonObject,
): JsonObject {
  const items = from[name];
  if (!Array.isArray(items)) return from;
  let hasChanged = false;
  const edited = items.map((item, index) => {
    const result = isObject(item) ? edit(item, index) : item;
    hasChanged ||= result !== item;
    return result;
  });
  return hasChanged ? { ...from, [name]: edited } : from;
}
