import type { Body } from "../../dialects/core/types.ts";
import { AppError } from "../../lib/app-error.ts";
import type { JsonValue } from "../../lib/text/json.ts";
import { JsonScanner, MAX_JSON_DEPTH, MAX_JSON_VALUES } from "../../lib/text/json-scanner.ts";

/** A smaller body cannot contain enough values to exhaust memory. */
const CHECKED_BYTES = 256 * 1024;
const BEGINS_JSON = /^\s{0,64}[[{]/;

/**
 * Checks the JSON inside strings (arguments and results of tools), which conversions parse. Throws AppError if all such
 * strings of a request together hold more values than a body may.
 */
export function checkNestedJson({ bytes, json }: Body): void {
  if (bytes.length <= CHECKED_BYTES) return;
  let values = 0;
  const check = (value: JsonValue | undefined): void => {
    if (typeof value === "string") values += BEGINS_JSON.test(value) ? valuesIn(value) : 0;
    else if (typeof value === "object" && value !== null) for (const inner of Object.values(value)) check(inner);
    if (values > MAX_JSON_VALUES) throw new AppError("too_many_values", { values: { limit: MAX_JSON_VALUES } });
  };
  check(json());
}

function valuesIn(text: string): number {
  const scanner = new JsonScanner({ maxDepth: MAX_JSON_DEPTH, maxValues: MAX_JSON_VALUES, maxBytes: Infinity });
  scanner.write(Buffer.from(text));
  return scanner.values;
}
