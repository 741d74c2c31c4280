import { parseJson } from "../../../../lib/text/json.ts";
import { isObject } from "../../../core/read.ts";
import type { JsonObject } from "../../../core/types.ts";

/**
 * Parses the arguments of a tool call; text that is not a JSON object is stored under one name instead of being lost.
 */
export function parseArguments(text: string | undefined): JsonObject {
  if (text === undefined || isNothing(text)) return {};
  const value = parseJson(text);
  if (isObject(value)) return value;
  return value === undefined ? { arguments: text } : { arguments: value };
}

/** True for the whole arguments of a tool without parameters; some servers write `null` there. */
export function isNothing(text: string): boolean {
  return /^\s*(?:null\s*)?$/.test(text);
}

/** Returns the arguments of a tool call as text; some servers and clients send an object instead. */
export function readArguments(target: JsonObject | undefined): string {
  const value = target?.["arguments"] ?? target?.["input"];
  if (typeof value === "string") return value;
  return isObject(value) ? JSON.stringify(value) : "";
}
