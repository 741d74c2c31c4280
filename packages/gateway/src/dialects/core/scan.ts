// Byte patterns that the usage meters search for before they parse a stream. A quoted key never matches inside a JSON
// string, because quotes are escaped there.
import { skipValue } from "../../lib/text/json-splice.ts";
import { parseObject } from "./read.ts";
import type { JsonObject } from "./types.ts";

const QUOTE = 34;
const COLON = 58;
const OPEN_BRACE = 123;
const CLOSE_BRACKET = 93;
const DONE = Buffer.from("[DONE]");

/** Returns the index of a member's value, whose quoted name ends before `from`; -1 if that is not a member. */
function valueStart(bytes: Buffer, from: number): number {
  let i = skipBlanks(bytes, from);
  if (bytes[i] !== COLON) return -1;
  i = skipBlanks(bytes, i + 1);
  return i;
}

function skipBlanks(bytes: Buffer, from: number): number {
  let i = from;
  while (bytes[i] === 32 || bytes[i] === 9) i++;
  return i;
}

/**
 * A quoted name to search for. The search starts after the quote and `skip` letters: quotes and common letters are
 * everywhere in JSON and make a native search three times slower.
 */
export interface Needle {
  readonly lead: Buffer;
  readonly tail: Buffer;
}

/** Builds a needle; its first `skip` characters are left out of the part that is searched for. */
export function needle(name: string, skip = 0): Needle {
  return { lead: Buffer.from(`"${name.slice(0, skip)}`), tail: Buffer.from(`${name.slice(skip)}"`) };
}

/** True if the name whose tail is at `at` is whole, from its opening quote on. */
function isWhole(bytes: Buffer, at: number, { lead }: Needle): boolean {
  for (let i = lead.length; i > 0; i--) if (bytes[at - i] !== lead[lead.length - i]) return false;
  return true;
}

/** Returns the last result of `read` over the objects under this member name, at any depth. */
export function lastRead<T>(bytes: Buffer, name: Needle, read: (value: JsonObject) => T | undefined): T | undefined {
  let at = bytes.lastIndexOf(name.tail);
  while (at >= 0) {
    const start = isWhole(bytes, at, name) ? valueStart(bytes, at + name.tail.length) : -1;
    if (start >= 0 && bytes[start] === OPEN_BRACE) {
      const value = parseObject(bytes.toString("utf8", start, skipValue(bytes, start)));
      const found = value && read(value);
      if (found !== undefined) return found;
    }
    at = at === 0 ? -1 : bytes.lastIndexOf(name.tail, at - 1);
  }
  return undefined;
}

/** True if `accepts` returns true for some occurrence of the name; it gets the index of the member's value, or -1. */
function some(bytes: Buffer, name: Needle, accepts: (valueAt: number) => boolean): boolean {
  let at = bytes.indexOf(name.tail);
  while (at >= 0) {
    const end = at + name.tail.length;
    if (isWhole(bytes, at, name) && accepts(valueStart(bytes, end))) return true;
    at = bytes.indexOf(name.tail, end);
  }
  return false;
}

/** True if a member of this name holds a non-empty text. */
export function hasText(bytes: Buffer, name: Needle): boolean {
  return some(bytes, name, (at) => isFullText(bytes, at));
}

/** True if the name occurs as a value, or as a member with an object or a text, so that parsing is worthwhile. */
export function mayHoldError(bytes: Buffer, name: Needle): boolean {
  return some(bytes, name, (at) => at < 0 || bytes[at] === OPEN_BRACE || isFullText(bytes, at));
}

const EVENT_LINE = Buffer.from("\nevent");
const LETTER_E = 101;

/** True if an event is named `error`; for protocols whose events otherwise have no names. */
export function namesError(bytes: Buffer): boolean {
  if (bytes[0] !== LETTER_E && !bytes.includes(EVENT_LINE)) return false;
  return /^event: ?error\s*$/m.test(bytes.toString("latin1"));
}

/** True if the name occurs as a value. */
export function hasValue(bytes: Buffer, name: Needle): boolean {
  return some(bytes, name, (at) => at < 0);
}

function isFullText(bytes: Buffer, at: number): boolean {
  return at >= 0 && bytes[at] === QUOTE && bytes[at + 1] !== QUOTE;
}

/** True if the last event is `[DONE]`; JSON events of these protocols end in a brace. */
export function endsWithDone(blocks: Buffer): boolean {
  let end = blocks.length - 1;
  while (end >= 0 && blocks[end]! <= 32) end--;
  if (blocks[end] !== CLOSE_BRACKET || end < 10) return false;
  const start = end + 1 - DONE.length;
  if (DONE.compare(blocks, start, end + 1) !== 0) return false;
  const before = skipBack(blocks, start);
  return blocks[before] === COLON && blocks.toString("latin1", before - 4, before) === "data";
}

function skipBack(bytes: Buffer, from: number): number {
  let i = from - 1;
  while (bytes[i] === 32 || bytes[i] === 9) i--;
  return i;
}
