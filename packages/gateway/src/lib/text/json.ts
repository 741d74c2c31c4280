import { parseExactly } from "./exact-numbers.ts";
import { findJsonFault } from "./json-scanner.ts";

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

export interface JsonObject {
  [key: string]: JsonValue | undefined;
}

/** Returns true for JSON objects; false for lists, null and numbers that are stored as written. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}

/** Shorter texts cannot contain enough values to exhaust the memory of the process. */
const CHECKED_LENGTH = 64 * 1024;

/** Parses an external text; undefined for invalid JSON, and for JSON that is too deep or has too many values. */
export function parseJson(text: string): JsonValue | undefined {
  if (text.length > CHECKED_LENGTH && findJsonFault(Buffer.from(text))) return undefined;
  try {
    return parseExactly(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Parses an object; undefined for anything else, including invalid JSON. */
export function parseObject(text: string): JsonObject | undefined {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}
