import { compact, isObject, list, object, objects, text } from "../../../core/read.ts";
import type { JsonObject, JsonValue } from "../../../core/types.ts";

/** Members that this schema dialect does not have. */
const REFUSED = new Set([
  "$schema",
  "$id",
  "$ref",
  "$defs",
  "$comment",
  "$anchor",
  "definitions",
  "additionalProperties",
  "unevaluatedProperties",
  "title",
  "default",
  "examples",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "patternProperties",
  "propertyNames",
  "dependentRequired",
  "dependentSchemas",
  "if",
  "then",
  "else",
  "not",
  "const",
  "contains",
  "uniqueItems",
  "oneOf",
  "allOf",
  "strict",
]);
const NUMBER_FORMATS = new Set(["int32", "int64", "float", "double"]);
const TEXT_FORMATS = new Set(["enum", "date-time"]);
const MAX_DEPTH = 24;

/** Converts a JSON schema to the subset of OpenAPI that Gemini's `parameters` and `responseSchema` take. */
export function geminiSchema(schema: JsonObject): JsonObject {
  return clean(schema, { root: schema, seen: [], depth: 0 });
}

interface SchemaPosition {
  readonly root: JsonObject;
  /** References that are being followed: a repeated one is a recursion and is cut. */
  readonly seen: readonly string[];
  readonly depth: number;
}

function clean(raw: JsonObject, place: SchemaPosition): JsonObject {
  if (place.depth > MAX_DEPTH) return { type: "object" };
  const followed = follow(raw, place);
  const inner: SchemaPosition = { ...followed.place, depth: place.depth + 1 };
  const schema = withoutNull(flatten(followed.schema));
  const out: JsonObject = {};
  for (const [key, value] of Object.entries(schema)) {
    if (!REFUSED.has(key)) out[key] = member(key, value, inner);
  }
  return typed(out, schema);
}

function follow(schema: JsonObject, place: SchemaPosition): { schema: JsonObject; place: SchemaPosition } {
  const reference = text(schema, "$ref");
  if (reference === undefined) return { schema, place };
  if (place.seen.includes(reference)) return { schema: { type: "object" }, place };
  const target = resolve(place.root, reference);
  const { $ref: _reference, ...siblings } = schema;
  return { schema: { ...target, ...siblings }, place: { ...place, seen: [...place.seen, reference] } };
}

function resolve(root: JsonObject, reference: string): JsonObject {
  let at: JsonValue | undefined = root;
  for (const step of reference.replace(/^#\/?/, "").split("/")) {
    if (step !== "") at = isObject(at) ? at[step.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
  }
  return isObject(at) ? at : { type: "object" };
}

/** Merges the parts of `allOf`, which all apply at once, into one schema. */
function flatten(schema: JsonObject): JsonObject {
  const parts = objects(schema, "allOf");
  if (parts.length === 0) return schema;
  return parts.map(flatten).reduce(
    (all, part): JsonObject => ({
      ...part,
      ...all,
      ...compact({
        properties: { ...object(part, "properties"), ...object(all, "properties") },
        required: [...new Set([...list(part, "required"), ...list(all, "required")])],
      }),
    }),
    schema,
  );
}

/** Replaces null in a type list or a choice by `nullable`; a choice with one option left becomes that option. */
function withoutNull(schema: JsonObject): JsonObject {
  const types = list(schema, "type");
  if (types.length > 0) {
    const rest = types.filter((type) => type !== "null");
    const nullable = rest.length < types.length ? { nullable: true } : {};
    if (rest.length <= 1) return { ...schema, ...nullable, type: rest[0] ?? "string" };
    const { type: _types, ...others } = schema;
    return { ...others, ...nullable, anyOf: rest.map((type) => ({ type })) };
  }
  const ways = [...objects(schema, "anyOf"), ...objects(schema, "oneOf")];
  if (ways.length === 0) return schema;
  const rest = ways.filter((way) => way["type"] !== "null");
  const nullable = rest.length < ways.length ? { nullable: true } : {};
  const { anyOf: _any, oneOf: _one, ...others } = schema;
  const [only] = rest;
  return rest.length === 1 && only !== undefined
    ? { ...only, ...others, ...nullable }
    : { ...others, ...nullable, anyOf: rest };
}

function member(key: string, value: JsonValue | undefined, place: SchemaPosition): JsonValue | undefined {
  if (key === "properties" && isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, isObject(inner) ? clean(inner, place) : {}]),
    );
  }
  if (key === "items") return isObject(value) ? clean(value, place) : { type: "string" };
  if (key === "anyOf" && Array.isArray(value)) return value.filter(isObject).map((way) => clean(way, place));
  return value;
}

/** Adapts a schema to its type: items for lists, known formats, enums of strings only. */
function typed(out: JsonObject, schema: JsonObject): JsonObject {
  const only = schema["const"];
  const choices = typeof only === "string" ? [only] : list(out, "enum").filter((item) => item !== null);
  const isText = choices.every((choice) => typeof choice === "string");
  const { enum: _enum, format: _format, ...rest } = out;
  const type = text(rest, "type") ?? (choices.length > 0 && isText ? "string" : undefined);
  return compact({
    ...rest,
    type,
    enum: choices.length > 0 && isText && type === "string" ? choices : undefined,
    format: pickFormat(type, text(out, "format")),
    required: listRequired(rest),
    items: rest["items"] ?? (type === "array" ? { type: "string" } : undefined),
  });
}

/** Returns the required names that have a property; others are refused. */
function listRequired(schema: JsonObject): JsonValue[] | undefined {
  const properties = object(schema, "properties") ?? {};
  const known = list(schema, "required").filter((name) => typeof name === "string" && Object.hasOwn(properties, name));
  return known.length === 0 ? undefined : known;
}

function pickFormat(type: string | undefined, format: string | undefined): string | undefined {
  if (format === undefined) return undefined;
  return (type === "string" ? TEXT_FORMATS : NUMBER_FORMATS).has(format) ? format : undefined;
}
