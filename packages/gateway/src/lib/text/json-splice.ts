// Edits single members of a JSON object without serializing the rest again, so that number spelling, key order and
// unknown fields are preserved. The bytes must be valid JSON: the scanner relies on a parser that has read them before.

const QUOTE = 34;
const BACKSLASH = 92;
const COLON = 58;
const COMMA = 44;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
/** Longer strings are skipped by a native search instead of a loop. */
const SHORT_STRING = 24;
const UNICODE_ESCAPE = Buffer.from("\\u");

export interface MemberEdit {
  readonly key: string;
  /** The new value as JSON text. */
  readonly json: string;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

interface Members {
  /** Value spans of the requested members. */
  readonly spans: ReadonlyMap<string, Span>;
  /** Index of the closing brace. */
  readonly end: number;
  readonly isEmpty: boolean;
}

/**
 * Returns the same JSON with top-level members replaced, or appended if they are missing. Undefined if a key is escaped
 * or appears twice: such a body must be parsed and serialized again.
 */
export function spliceMembers(bytes: Buffer, edits: readonly MemberEdit[]): Buffer | undefined {
  const keys = edits.map(({ key }) => key);
  const top = findMembers(bytes, keys);
  if (top === undefined) return undefined;
  const present: { span: Span; json: string }[] = [];
  let added = "";
  for (const { key, json } of edits) {
    const span = top.spans.get(key);
    if (span !== undefined) present.push({ span, json });
    else added += `${added === "" && top.isEmpty ? "" : ","}${JSON.stringify(key)}:${json}`;
  }
  present.sort((a, b) => a.span.start - b.span.start);
  const parts: Buffer[] = [];
  let from = 0;
  for (const { span, json } of present) {
    parts.push(bytes.subarray(from, span.start), Buffer.from(json));
    from = span.end;
  }
  if (added === "") parts.push(bytes.subarray(from));
  else parts.push(bytes.subarray(from, top.end), Buffer.from(added), bytes.subarray(top.end));
  return Buffer.concat(parts);
}

/**
 * Returns true if no parser can disagree about the value of a top-level key that another parser found: it occurs once,
 * unescaped. A second `model`, read by an upstream that takes the first one, would be served at another model's price.
 */
export function hasOneMember(bytes: Buffer, key: string): boolean {
  const needle = Buffer.from(JSON.stringify(key));
  const first = bytes.indexOf(needle);
  if (first >= 0 && bytes.indexOf(needle, first + needle.length) < 0 && bytes.indexOf(UNICODE_ESCAPE) < 0) return true;
  return findMembers(bytes, [key])?.spans.has(key) ?? false;
}

/**
 * Returns where the values of these members of the object at `from` are. Undefined if it is no object, or one of its
 * keys is escaped or appears twice.
 */
export function findMembers(bytes: Buffer, keys: readonly string[], from = 0): Members | undefined {
  const wanted = keys.map((key) => Buffer.from(key));
  const spans = new Map<string, Span>();
  let i = skipSpace(bytes, from);
  if (bytes[i] !== OPEN_BRACE) return undefined;
  i = skipSpace(bytes, i + 1);
  if (bytes[i] === CLOSE_BRACE) return { spans, end: i, isEmpty: true };
  while (i < bytes.length) {
    if (bytes[i] !== QUOTE) return undefined;
    const keyStart = i + 1;
    const keyEnd = skipString(bytes, i) - 1;
    if (hasEscape(bytes, keyStart, keyEnd)) return undefined;
    i = skipSpace(bytes, keyEnd + 1);
    if (bytes[i] !== COLON) return undefined;
    const start = skipSpace(bytes, i + 1);
    const end = skipValue(bytes, start);
    const at = findKeyIndex(bytes, keyStart, keyEnd, wanted);
    if (at >= 0) {
      const key = keys[at]!;
      if (spans.has(key)) return undefined;
      spans.set(key, { start, end });
    }
    i = skipSpace(bytes, end);
    if (bytes[i] === CLOSE_BRACE) return { spans, end: i, isEmpty: false };
    if (bytes[i] !== COMMA) return undefined;
    i = skipSpace(bytes, i + 1);
  }
  return undefined;
}

/** Returns where the items of the list at `from` are; empty if it is no list. */
export function findItems(bytes: Buffer, from: number): readonly Span[] {
  const items: Span[] = [];
  if (bytes[from] !== OPEN_BRACKET) return items;
  for (let i = skipSpace(bytes, from + 1); bytes[i] !== CLOSE_BRACKET && i < bytes.length; i = skipSpace(bytes, i)) {
    const end = skipValue(bytes, i);
    items.push({ start: i, end });
    i = skipSpace(bytes, end);
    if (bytes[i] === COMMA) i += 1;
  }
  return items;
}

function findKeyIndex(bytes: Buffer, start: number, end: number, wanted: readonly Buffer[]): number {
  const length = end - start;
  for (let at = 0; at < wanted.length; at++) {
    const key = wanted[at]!;
    if (key.length === length && bytes[start] === key[0] && key.compare(bytes, start, end) === 0) return at;
  }
  return -1;
}

function hasEscape(bytes: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (bytes[i] === BACKSLASH) return true;
  return false;
}

/** Returns the index of the first byte at or after `from` that is not white space. */
export function skipSpace(bytes: Buffer, from: number): number {
  let i = from;
  for (let byte = bytes[i]; byte === 32 || byte === 10 || byte === 13 || byte === 9; byte = bytes[i]) i++;
  return i;
}

/** Returns the index after the closing quote of the string that opens at `open`. */
export function skipString(bytes: Buffer, open: number): number {
  let i = open + 1;
  const near = Math.min(bytes.length, i + SHORT_STRING);
  for (; i < near; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) return i + 1;
    if (byte === BACKSLASH) i++;
  }
  for (;;) {
    const quote = bytes.indexOf(QUOTE, i);
    if (quote < 0) return bytes.length;
    let slashes = 0;
    while (quote - slashes > i && bytes[quote - slashes - 1] === BACKSLASH) slashes++;
    i = quote + 1;
    if (slashes % 2 === 0) return i;
  }
}

/** Returns the index after the value that starts at `from`. */
export function skipValue(bytes: Buffer, from: number): number {
  const first = bytes[from];
  if (first === QUOTE) return skipString(bytes, from);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return skipNested(bytes, from);
  let i = from;
  while (i < bytes.length) {
    const byte = bytes[i]!;
    if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte <= 32) return i;
    i++;
  }
  return i;
}

function skipNested(bytes: Buffer, from: number): number {
  let depth = 0;
  for (let i = from; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) i = skipString(bytes, i) - 1;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) return i + 1;
  }
  return bytes.length;
}
