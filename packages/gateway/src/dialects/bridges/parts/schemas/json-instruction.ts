import { object } from "../../../core/read.ts";
import type { JsonObject } from "../../../core/types.ts";

/** Returns the response format of a chat request in words, for models that cannot enforce it. */
export function jsonInstructions(body: JsonObject): string[] {
  const format = object(body, "response_format");
  if (format?.["type"] === "json_object") return ["Answer with one valid JSON object and nothing else."];
  const schema = format?.["type"] === "json_schema" ? object(object(format, "json_schema"), "schema") : undefined;
  if (schema === undefined) return [];
  return [`Answer with one JSON value that matches this JSON schema, and nothing else:\n${JSON.stringify(schema)}`];
}
