import type { JsonObject, JsonValue } from "../../../dialects/core/types.ts";
import { asObject } from "./error-body.ts";

const RESULTS = ["content_filter_result", "content_filter_results"] as const;
const WORD = /^[\w-]{1,64}$/;
const DEEPEST = 3;

/**
 * Returns what `innererror` of a failure says about a content filter, for clients that decide by category and severity.
 * Words, numbers and flags are passed on; free text and anything else is left out.
 */
export function innerError(error: JsonObject): JsonObject | undefined {
  const inner = asObject(error["innererror"]);
  if (!inner) return undefined;
  const code = isWord(inner["code"]) ? { code: inner["code"] } : {};
  const results = RESULTS.flatMap((name) => {
    const result = verdict(inner[name], DEEPEST);
    return result === undefined ? [] : [[name, result] as const];
  });
  const found = { ...code, ...Object.fromEntries(results) };
  return Object.keys(found).length === 0 ? undefined : found;
}

function verdict(value: JsonValue | undefined, depth: number): JsonValue | undefined {
  if (typeof value === "boolean" || typeof value === "number" || isWord(value)) return value;
  const members = depth > 0 ? asObject(value) : undefined;
  if (!members) return undefined;
  const preserved = Object.entries(members).flatMap(([name, member]) => {
    const found = WORD.test(name) ? verdict(member, depth - 1) : undefined;
    return found === undefined ? [] : [[name, found] as const];
  });
  return Object.fromEntries(preserved);
}

function isWord(value: JsonValue | undefined): value is string {
  return typeof value === "string" && WORD.test(value);
}
