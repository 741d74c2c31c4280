import { isObject, text } from "../../../core/read.ts";
import type { JsonObject, JsonValue } from "../../../core/types.ts";

const FORMATS = new Set(["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"]);
const STATED = new Set([
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "pattern",
  "minItems",
  "maxItems",
  "uniqueItems",
  "minProperties",
  "maxProperties",
  "not",
]);
const MAPS = new Set(["properties", "$defs", "definitions", "patternProperties"]);
const VALUES = new Set(["enum", "const", "default", "examples", "required"]);

/**
 * Converts a JSON schema to one that Anthropic's constrained decoder takes: closed objects, `anyOf` for `oneOf`, known
 * formats. Limits that it refuses are stated in the description instead.
 */
export function structuredSchema(schema: JsonObject): JsonObject {
  const out: JsonObject = {};
  const reported: string[] = [];
  for (const [key, value] of Object.entries(schema)) {
    const isRefused = STATED.has(key) || (key === "format" && !(typeof value === "string" && FORMATS.has(value)));
    if (isRefused) reported.push(`${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`);
    else out[key === "oneOf" ? "anyOf" : key] = nested(key, value);
  }
  if (isObject(schema["properties"]) || schema["type"] === "object") out["additionalProperties"] = false;
  if (reported.length === 0) return out;
  const described = text(schema, "description");
  return { ...out, description: `${described === undefined ? "" : `${described} `}${reported.join("; ")}.` };
}

function nested(key: string, value: JsonValue | undefined): JsonValue | undefined {
  if (VALUES.has(key)) return value;
  if (Array.isArray(value)) return value.map((item) => (isObject(item) ? structuredSchema(item) : item));
  if (!isObject(value)) return value;
  if (!MAPS.has(key)) return structuredSchema(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, isObject(inner) ? structuredSchema(inner) : inner]),
  );
}
