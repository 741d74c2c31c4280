import { parse } from "yaml";
import { isObject, type JsonObject } from "../../lib/text/json.ts";

/** Deeper than a resource of an operator puts its configuration. */
const MAX_DEPTH = 6;

/** The object with a `model_list`: the text itself, or one inside of a ConfigMap, Helm values or an operator's resource. */
export function configIn(value: unknown, depth = MAX_DEPTH): JsonObject | undefined {
  if (depth === 0) return undefined;
  if (typeof value === "string") return value.includes("model_list") ? configIn(parsed(value), depth - 1) : undefined;
  if (Array.isArray(value)) return firstIn(value, depth);
  if (!isObject(value)) return undefined;
  return Array.isArray(value["model_list"]) ? value : firstIn(Object.values(value), depth);
}

function firstIn(values: readonly unknown[], depth: number): JsonObject | undefined {
  for (const value of values) {
    const found = configIn(value, depth - 1);
    if (found) return found;
  }
  return undefined;
}

/** Undefined for a text that only mentions the name. */
function parsed(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}
