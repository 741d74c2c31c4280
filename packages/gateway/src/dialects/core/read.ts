// Readers for foreign JSON: a value of an unexpected kind counts as absent.
import { nearestNumber } from "../../lib/text/exact-numbers.ts";
import { isObject } from "../../lib/text/json.ts";
import type { JsonObject, JsonValue } from "./types.ts";

export { isObject, parseObject } from "../../lib/text/json.ts";

/** Returns a member that is a text, even an empty one; undefined for anything else. */
export function text(from: JsonObject | undefined, key: string): string | undefined {
  const value = from?.[key];
  return typeof value === "string" ? value : undefined;
}

/** Returns the first of several members that is a text; "" if none is. */
export function anyText(from: JsonObject | undefined, ...keys: readonly string[]): string {
  for (const key of keys) {
    const value = text(from, key);
    if (value !== undefined) return value;
  }
  return "";
}

/** Returns a member that is a number, even a fraction or a negative one; undefined for anything else. */
export function number(from: JsonObject | undefined, key: string): number | undefined {
  const value = nearestNumber(from?.[key]);
  return typeof value === "number" ? value : undefined;
}

/** Returns a member that is true or false; undefined for anything else. */
export function flag(from: JsonObject | undefined, key: string): boolean | undefined {
  const value = from?.[key];
  return typeof value === "boolean" ? value : undefined;
}

/** Returns a member that is an object; undefined for lists, null and anything else. */
export function object(from: JsonObject | undefined, key: string): JsonObject | undefined {
  const value = from?.[key];
  return isObject(value) ? value : undefined;
}

const NOTHING: readonly JsonValue[] = [];
const NO_OBJECTS: readonly JsonObject[] = [];

/** Returns the items of a list; an empty list if there is none. */
export function list(from: JsonObject | undefined, key: string): readonly JsonValue[] {
  const value = from?.[key];
  return Array.isArray(value) ? value : NOTHING;
}

/** Returns the objects in a list; items of other kinds are left out. */
export function objects(from: JsonObject | undefined, key: string): readonly JsonObject[] {
  const items = list(from, key);
  return items.length === 0 ? NO_OBJECTS : items.filter(isObject);
}

/** True for a list that holds only objects. */
export function isObjectList(value: JsonValue | undefined): value is JsonObject[] {
  return Array.isArray(value) && value.every(isObject);
}

/** Larger numbers are read as this one. No honest count comes near it, and times in milliseconds stay below it. */
const LARGEST_COUNT = 1e15;

/** Returns a whole number from zero up; negative, fractional and other values count as absent. */
export function count(from: JsonObject | undefined, key: string): number | undefined {
  const value = nearestNumber(from?.[key]);
  if (typeof value !== "number" || !(value >= 0)) return undefined;
  if (value > LARGEST_COUNT) return LARGEST_COUNT;
  return Number.isInteger(value) ? value : undefined;
}

/** True for a value that is neither missing nor null. */
export function isSet(value: JsonValue | undefined): value is JsonValue {
  return value !== undefined && value !== null;
}

/** Returns the members that are set, to build JSON without `undefined`. */
export function compact(members: JsonObject): JsonObject {
  const out: JsonObject = {};
  for (const key in members) if (members[key] !== undefined) out[key] = members[key];
  return out;
}
