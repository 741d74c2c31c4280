import { isObject } from "../../read.ts";
import type { JsonObject, JsonValue } from "../../types.ts";

const TYPE_NAMES: Readonly<Record<string, string>> = {
  STRING: "string",
  NUMBER: "number",
  INTEGER: "integer",
  BOOLEAN: "boolean",
  ARRAY: "array",
  OBJECT: "object",
  NULL: "null",
};
const NUMERIC = new Set(["maxItems", "minItems", "maxLength", "minLength", "maxProperties", "minProperties"]);

/** A plain JSON schema of a schema in Google's spelling: upper-case types, `nullable`, numbers as texts. */
export function jsonSchema(schema: JsonObject): JsonObject {
  const out: JsonObject = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === "nullable" || key === "propertyOrdering" || key === "property_ordering") continue;
    out[key === "any_of" ? "anyOf" : key] = member(key, value);
  }
  if (schema["nullable"] !== true) return out;
  return typeof out["type"] === "string" ? { ...out, type: [out["type"], "null"] } : out;
}

function member(key: string, value: JsonValue | undefined): JsonValue | undefined {
  switch (key) {
    case "type":
      return typeof value === "string" ? (TYPE_NAMES[value] ?? value.toLowerCase()) : value;
    case "properties":
      return isObject(value)
        ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, nested(inner)]))
        : value;
    case "items":
      return nested(value);
    case "anyOf":
    case "any_of":
      return Array.isArray(value) ? value.filter(isObject).map(jsonSchema) : value;
    default:
      return NUMERIC.has(key) && typeof value === "string" ? Number(value) : value;
  }
}

function nested(value: JsonValue | undefined): JsonValue | undefined {
  return isObject(value) ? jsonSchema(value) : value;
}
