import { isObject, list, object, text } from "../../../core/read.ts";
import type { JsonObject, JsonValue } from "../../../core/types.ts";

/** Members that make OpenAI refuse a strict schema as a whole. */
const REFUSED = new Set([
  "oneOf",
  "allOf",
  "not",
  "if",
  "then",
  "else",
  "contains",
  "default",
  "uniqueItems",
  "propertyNames",
  "patternProperties",
  "dependentRequired",
  "dependentSchemas",
]);
const FORMATS = new Set(["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"]);
const MAPS = new Set(["properties", "$defs", "definitions"]);

/**
 * Returns the schema in the form that OpenAI accepts as strict; undefined if it would be refused. Every object must be
 * closed and require all its members, and every value must have a type, even if a choice or a constant implies it.
 */
export function strictSchema(schema: JsonObject): JsonObject | undefined {
  let isTaken = text(schema, "type") === "object";
  const visit = (each: JsonObject): JsonObject => {
    const typed = withType(each);
    isTaken &&= isTakenAlone(typed);
    return withInner(typed, visit);
  };
  const strict = visit(schema);
  return isTaken ? strict : undefined;
}

function withType(schema: JsonObject): JsonObject {
  if (["type", "anyOf", "$ref"].some((key) => schema[key] !== undefined)) return schema;
  const values = schema["const"] === undefined ? list(schema, "enum") : [schema["const"]];
  const types = [...new Set(values.map(typeName))];
  const [only] = types;
  return types.length === 1 && only !== undefined ? { type: only, ...schema } : schema;
}

function typeName(value: JsonValue | undefined): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function isTakenAlone(schema: JsonObject): boolean {
  const keys = Object.keys(schema);
  if (schema["$ref"] !== undefined) return keys.length === 1;
  if (schema["type"] === undefined && schema["anyOf"] === undefined) return false;
  const format = text(schema, "format");
  if (keys.some((key) => REFUSED.has(key)) || (format !== undefined && !FORMATS.has(format))) return false;
  const properties = object(schema, "properties");
  if (properties === undefined && schema["type"] !== "object") return true;
  const required = list(schema, "required");
  const isClosed = schema["additionalProperties"] === false;
  return isClosed && Object.keys(properties ?? {}).every((name) => required.includes(name));
}

function withInner(schema: JsonObject, change: (inner: JsonObject) => JsonObject): JsonObject {
  const changed = (inner: JsonValue | undefined) => (isObject(inner) ? change(inner) : inner);
  const member = (key: string, value: JsonValue | undefined) => {
    if (MAPS.has(key) && isObject(value))
      return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, changed(inner)]));
    if (key === "anyOf" && Array.isArray(value)) return value.map((way) => (isObject(way) ? change(way) : way));
    return key === "items" ? changed(value) : value;
  };
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, member(key, value)]));
}
