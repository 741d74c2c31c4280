// Byte patterns that the usage meters search for before they parse a stream. A quoted key never matches inside a text,
// because quotes are escaped there.
import { skipValue } from "../../lib/text/json-splice.ts";
import { parseObject } from "./read.ts";
import type { JsonObject } from "./types.ts";

const QUOTE = 34;
const COLON = 58;
const OPEN_BRACE = 123;
const CLOSE_BRACKET = 93;
const DONE = Buffer.from("[DONE]");

/** First byte of the value of the member whose quoted name ends before `from`; -1 when that is no member. */
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
 * A quoted name to look for. The search starts behind the quote and `skip` letters: quotes and common letters stand
 * everywhere in JSON and slow a native search down threefold.
 */
export interface Needle {
  readonly lead: Buffer;
  readonly tail: Buffer;
}

/** The bytes of a quoted name. `skip` characters are left out of the part that is searched for. */
export function needle(name: string, skip = 0): Needle {
  return { lead: Buffer.from(`"${name.slice(0, skip)}`), tail: Buffer.from(`${name.slice(skip)}"`) };
}

/** True when the name that ends in the tail at `at` begins with its quote. */
function isWhole(bytes: Buffer, at: number, { lead }: Needle): boolean {
  for (let i = lead.length; i > 0; i--) if (bytes[at - i] !== lead[lead.length - i]) return false;
  return true;
}

/** The last result of `read` over the objects under this member name, at any depth. */
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

/** True when `accepts` says so for some place of the name; it gets the index of the member's value, or -1. */
function some(bytes: Buffer, name: Needle, accepts: (valueAt: number) => boolean): boolean {
  let at = bytes.indexOf(name.tail);
  while (at >= 0) {
    const end = at + name.tail.length;
    if (isWhole(bytes, at, name) && accepts(valueStart(bytes, end))) return true;
    at = bytes.indexOf(name.tail, end);
  }
  return false;
}

/** True when a member of this name holds a text that is not empty. */
export function hasText(bytes: Buffer, name: Needle): boolean {
  return some(bytes, name, (at) => isFullText(bytes, at));
}

/** True when the name is there as a value, or as a member with an object or a text: worth parsing. */
export function mayHoldError(bytes: Buffer, name: Needle): boolean {
  return some(bytes, name, (at) => at < 0 || bytes[at] === OPEN_BRACE || isFullText(bytes, at));
}

const EVENT_LINE = Buffer.from("\nevent");
const LETTER_E = 101;

/** True when an event is called `error`; for protocols whose events have no names otherwise. */
export function namesError(bytes: Buffer): boolean {
  if (bytes[0] !== LETTER_E && !bytes.includes(EVENT_LINE)) return false;
  return /^event: ?error\s*$/m.test(bytes.toString("latin1"));
}

/** True when the name is there as a value. */
export function hasValue(bytes: Buffer, name: Needle): boolean {
  return some(bytes, name, (at) => at < 0);
}

function isFullText(bytes: Buffer, at: number): boolean {
  return at >= 0 && bytes[at] === QUOTE && bytes[at + 1] !== QUOTE;
}

/** True when the last event is `[DONE]`; JSON events of these protocols end in a brace. */
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
