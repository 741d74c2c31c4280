import { isObject, list, object } from "../../read.ts";
import type { JsonObject, JsonValue } from "../../types.ts";

/** True when OpenAI takes the schema as a strict one: every object is closed and names all its members as required. */
export function isStrictSchema(schema: JsonObject): boolean {
  const properties = object(schema, "properties");
  if (properties !== undefined || schema["type"] === "object") {
    const required = list(schema, "required");
    const isClosed = schema["additionalProperties"] === false;
    if (!isClosed || !Object.keys(properties ?? {}).every((name) => required.includes(name))) return false;
  }
  return Object.entries(schema).every(([key, value]) => key === "enum" || key === "const" || isStrictValue(value));
}

function isStrictValue(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.every(isStrictValue);
  if (!isObject(value)) return true;
  const isSchema = ["type", "properties", "items", "anyOf", "$ref", "enum"].some(
    (key) => typeof value[key] !== "undefined",
  );
  return isSchema ? isStrictSchema(value) : Object.values(value).every(isStrictValue);
}
