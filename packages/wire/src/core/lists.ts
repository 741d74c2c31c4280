import * as z from "zod/mini";
import type { QueryValue } from "./envelope.ts";

const TRUE_WORDS = new Set(["1", "t", "T", "true", "TRUE", "True"]);
const FALSE_WORDS = new Set(["0", "f", "F", "false", "FALSE", "False"]);

const anyValue = z.optional(z.custom<QueryValue>(() => true));

/** Query boolean with three values: undefined unless the text is true or false. */
export const queryTristate = z.pipe(
  anyValue,
  z.transform((value: QueryValue): boolean | undefined => {
    const text = toTexts(value)[0] ?? "";
    if (TRUE_WORDS.has(text)) return true;
    return FALSE_WORDS.has(text) ? false : undefined;
  }),
);

/** Query list: a repeated name or comma-joined texts; trimmed, without blanks and duplicates. */
export const queryTexts = z.pipe(
  anyValue,
  z.transform((value: QueryValue): string[] => [...new Set(toTexts(value).flatMap(splitList))]),
);

/** Query list of integers; parts that are not safe integers are dropped. */
export const queryInts = z.pipe(
  anyValue,
  z.transform((value: QueryValue): number[] =>
    toTexts(value).flatMap(splitList).map(Number).filter(Number.isSafeInteger),
  ),
);

/** Returns the parts of a comma-joined list from a form: trimmed, without blanks and duplicates, in order. */
export function splitList(text: string): string[] {
  const parts = text.split(",").map((part) => part.trim());
  return [...new Set(parts.filter((part) => part !== ""))];
}

function toTexts(value: QueryValue): string[] {
  if (value === undefined) return [];
  return (isList(value) ? value : [value]).map((one) => String(one).trim());
}

function isList(value: QueryValue): value is readonly (string | number)[] {
  return Array.isArray(value);
}
