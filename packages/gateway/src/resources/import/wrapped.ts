import { parse } from "yaml";
import { isObject, type JsonObject } from "../../lib/text/json.ts";

/** Deeper than any operator's resource nests its configuration. */
const MAX_DEPTH = 6;

type IsConfig = (value: JsonObject) => boolean;

/** Members that every configuration has; texts without them are not parsed. */
const MARKS = /model_list|providers/;

/**
 * Returns the configuration: the value itself, or the one inside a ConfigMap, Helm values or an operator's resource.
 */
export function configIn(value: unknown, isConfig: IsConfig, depth = MAX_DEPTH): JsonObject | undefined {
  if (depth === 0) return undefined;
  if (typeof value === "string") return MARKS.test(value) ? configIn(parsed(value), isConfig, depth - 1) : undefined;
  if (Array.isArray(value)) return firstIn(value, isConfig, depth);
  if (!isObject(value)) return undefined;
  return isConfig(value) ? value : firstIn(Object.values(value), isConfig, depth);
}

function firstIn(values: readonly unknown[], isConfig: IsConfig, depth: number): JsonObject | undefined {
  for (const value of values) {
    const found = configIn(value, isConfig, depth - 1);
    if (found) return found;
  }
  return undefined;
}

/** Returns undefined for a text that only mentions the name. */
function parsed(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}
