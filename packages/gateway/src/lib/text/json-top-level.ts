import { skipSpace, skipString, skipValue } from "./json-splice.ts";

const QUOTE = 34;
const COLON = 58;
const COMMA = 44;
const OPEN_BRACE = 123;

/** The byte range of a value. */
export interface JsonSpan {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the values of some members of the outermost object, using the last of each name like `JSON.parse`; other
 * values are skipped without decoding. Undefined if the text is not an object.
 */
export function topLevelMembers(bytes: Buffer, names: readonly string[]): ReadonlyMap<string, JsonSpan> | undefined {
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== OPEN_BRACE) return undefined;
  const found = new Map<string, JsonSpan>();
  at = skipSpace(bytes, at + 1);
  while (bytes[at] === QUOTE) {
    const nameEnd = skipString(bytes, at);
    const name = nameIn(bytes, at, nameEnd);
    at = skipSpace(bytes, nameEnd);
    if (bytes[at] !== COLON) break;
    const start = skipSpace(bytes, at + 1);
    const end = skipValue(bytes, start);
    if (names.includes(name)) found.set(name, { start, end });
    at = skipSpace(bytes, end);
    if (bytes[at] !== COMMA) break;
    at = skipSpace(bytes, at + 1);
  }
  return found;
}

/** Returns the name with its escapes decoded. */
function nameIn(bytes: Buffer, from: number, to: number): string {
  const quoted = bytes.toString("utf8", from, to);
  return quoted.includes("\\") ? (parseString(quoted) ?? "") : quoted.slice(1, -1);
}

/** Returns the text of a JSON string; undefined for any other value. */
export function textAt(bytes: Buffer, span: JsonSpan | undefined): string | undefined {
  if (!span || bytes[span.start] !== QUOTE) return undefined;
  return parseString(bytes.toString("utf8", span.start, span.end));
}

function parseString(quoted: string): string | undefined {
  try {
    const value: unknown = JSON.parse(quoted);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
