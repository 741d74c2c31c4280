// Readers for JSON that belongs to others: a value of another kind than asked for counts as absent.
import { nearestNumber } from "../../lib/text/exact-numbers.ts";
import { isObject } from "../../lib/text/json.ts";
import type { JsonObject, JsonValue } from "./types.ts";

export { isObject, parseObject } from "../../lib/text/json.ts";

/** A member that is a text, the empty one included; undefined for anything else. */
export function text(from: JsonObject | undefined, key: string): string | undefined {
  const value = from?.[key];
  return typeof value === "string" ? value : undefined;
}

/** The first of several members that is a text; "" when none is. */
export function anyText(from: JsonObject | undefined, ...keys: readonly string[]): string {
  for (const key of keys) {
    const value = text(from, key);
    if (value !== undefined) return value;
  }
  return "";
}

/** A member that is a number, fractions and negative ones included; undefined for anything else. */
export function number(from: JsonObject | undefined, key: string): number | undefined {
  const value = nearestNumber(from?.[key]);
  return typeof value === "number" ? value : undefined;
}

/** A member that is true or false; undefined for anything else. */
export function flag(from: JsonObject | undefined, key: string): boolean | undefined {
  const value = from?.[key];
  return typeof value === "boolean" ? value : undefined;
}

/** A member that is an object; undefined for lists, null and anything else. */
export function object(from: JsonObject | undefined, key: string): JsonObject | undefined {
  const value = from?.[key];
  return isObject(value) ? value : undefined;
}

const NOTHING: readonly JsonValue[] = [];
const NO_OBJECTS: readonly JsonObject[] = [];

/** The items of a list; an empty list when there is none. */
export function list(from: JsonObject | undefined, key: string): readonly JsonValue[] {
  const value = from?.[key];
  return Array.isArray(value) ? value : NOTHING;
}

/** The objects in a list; items of other kinds are left out. */
export function objects(from: JsonObject | undefined, key: string): readonly JsonObject[] {
  const items = list(from, key);
  return items.length === 0 ? NO_OBJECTS : items.filter(isObject);
}

/** A list of nothing but objects. */
export function isObjectList(value: JsonValue | undefined): value is JsonObject[] {
  return Array.isArray(value) && value.every(isObject);
}

/** Larger numbers stand for this one, which no honest count comes near; times in milliseconds stay below it. */
const LARGEST_COUNT = 1e15;

/** A whole number from zero up; negative, fractional and other values count as absent. */
export function count(from: JsonObject | undefined, key: string): number | undefined {
  const value = nearestNumber(from?.[key]);
  if (typeof value !== "number" || !(value >= 0)) return undefined;
  if (value > LARGEST_COUNT) return LARGEST_COUNT;
  return Number.isInteger(value) ? value : undefined;
}

/** Neither missing nor null. */
export function isSet(value: JsonValue | undefined): value is JsonValue {
  return value !== undefined && value !== null;
}

/** The members that are set; for building JSON without `undefined`. */
export function compact(members: JsonObject): JsonObject {
  const out: JsonObject = {};
  for (const key in members) if (members[key] !== undefined) out[key] = members[key];
  return out;
}
