import type { IncomingMessage } from "node:http";
import type { JsonObject, JsonValue } from "../../dialects/core/types.ts";
import { AppError, invalidRequest } from "../../lib/app-error.ts";
import type { FormPart } from "./form-scanner.ts";
import { checkField, type Names } from "./member-names.ts";

export const FILE_FIELD = /^(file|image(\[\d*\])?)$/;
/** Matches the whole parameter or nothing: a reader that accepts more of it, or trims it, would see other parts. */
const BOUNDARY = /;\s*boundary=(?:"([^"\\;\p{Cc}]{0,69}[^"\\;\s\p{Cc}])"|([^"\\;\s]{1,70}))(?=[\s;]|$)/iu;
const NUMBERS = new Set(["n", "partial_images", "output_compression", "temperature"]);

/** True for `multipart/form-data`. */
export function isForm(request: IncomingMessage): boolean {
  return /^multipart\/form-data\b/i.test(request.headers["content-type"] ?? "");
}

/** Returns the delimiter of the parts; throws `invalid_request` if the body is not a plain form. */
export function readBoundary({ headers }: IncomingMessage): string {
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity")
    throw new AppError("unsupported_encoding", { values: { encoding } });
  const contentType = headers["content-type"] ?? "";
  const found = BOUNDARY.exec(contentType);
  const boundary = found?.[1] ?? found?.[2];
  if (boundary === undefined) throw invalidRequest("content-type", "The content type names no boundary.");
  return boundary;
}

/** Throws `invalid_request` if another reader could take a different part for one that the gateway reads. */
export function checkParts(parts: readonly FormPart[], names: Names): void {
  const seen = new Set<string>();
  for (const { name, filename } of parts) {
    checkField(name, names);
    const isList = name.endsWith("[]") || (filename !== undefined && name === "image");
    if (seen.has(name) && !isList) throw invalidRequest(name, `${name} is in the form twice; send it once.`);
    seen.add(name);
  }
}

/** Returns the text fields as the JSON that they would be in a JSON request. */
export function readFields(parts: readonly FormPart[]): JsonObject {
  const fields: Record<string, JsonValue> = Object.create(null) as Record<string, JsonValue>;
  for (const part of parts) {
    if (part.filename !== undefined) {
      // Some readers treat a file without a name as a field, which the gateway would not have checked.
      if (part.filename === "" && part.value.length > 0 && !FILE_FIELD.test(part.name))
        throw invalidRequest(part.name, `${part.name} is a file without a name.`);
      continue;
    }
    fields[part.name] = parseFieldValue(part.name, part.value.toString("utf8"));
  }
  return fields;
}

/** Parses numbers and flags of the protocol, because form fields are texts. */
function parseFieldValue(name: string, text: string): JsonValue {
  if (NUMBERS.has(name) && text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
  return name === "stream" && (text === "true" || text === "false") ? text === "true" : text;
}
