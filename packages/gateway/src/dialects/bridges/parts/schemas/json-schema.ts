import { isObject } from "../../../core/read.ts";
import type { JsonObject, JsonValue } from "../../../core/types.ts";

const TYPE_NAMES: Readonly<Record<string, string>> = {
  STRING: "string",
  NUMBER: "number",
  INTEGER: "integer",
  BOOLEAN: "boolean",
  ARRAY: "array",
  OBJECT: "object",
  NULL: "null",
};
const NAMES: Readonly<Record<string, string>> = { any_of: "anyOf", additional_properties: "additionalProperties" };
const NUMERIC = new Set(["maxItems", "minItems", "maxLength", "minLength", "maxProperties", "minProperties"]);

/** Converts a schema in Google's spelling (upper-case types, `nullable`, numbers as texts) to a plain JSON schema. */
export function jsonSchema(schema: JsonObject): JsonObject {
  const out: JsonObject = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === "nullable" || key === "propertyOrdering" || key === "property_ordering") continue;
    const name = NAMES[key] ?? key;
    out[name] = member(name, value);
  }
  if (schema["nullable"] !== true) return out;
  if (typeof out["type"] === "string") return { ...out, type: [out["type"], "null"] };
  return Array.isArray(out["anyOf"]) ? { ...out, anyOf: [...out["anyOf"], { type: "null" }] } : out;
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
    case "additionalProperties":
      return nested(value);
    case "anyOf":
      return Array.isArray(value) ? value.filter(isObject).map(jsonSchema) : value;
    default:
      return NUMERIC.has(key) && typeof value === "string" ? Number(value) : value;
  }
}

function nested(value: JsonValue | undefined): JsonValue | undefined {
  return isObject(value) ? jsonSchema(value) : value;
}
