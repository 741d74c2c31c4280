import { parseExactly } from "./exact-numbers.ts";
import { findJsonFault } from "./json-scanner.ts";

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

export interface JsonObject {
  [key: string]: JsonValue | undefined;
}

/** True for JSON objects; false for lists, null and numbers that are stored as they are written. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}

/** Shorter texts cannot hold enough to take the memory of the process. */
const CHECKED_LENGTH = 64 * 1024;

/** The value of a text from elsewhere; undefined for broken JSON, and for what is too deep or has too many values. */
export function parseJson(text: string): JsonValue | undefined {
  if (text.length > CHECKED_LENGTH && findJsonFault(Buffer.from(text))) return undefined;
  try {
    return parseExactly(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** The object that a text holds; undefined for anything else, broken JSON included. */
export function parseObject(text: string): JsonObject | undefined {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}
