/** Limits for one JSON text. */
export interface JsonLimits {
  readonly maxDepth: number;
  /** Items count 1, members 6; every object and list counts 8 more. This is roughly the cost of each after parsing. */
  readonly maxValues: number;
  /** Maximum bytes, without the long strings that contain an inline file. */
  readonly maxBytes: number;
}

/** The reason for refusing a text; `unbalanced` means that it closes more than it opened or ends early. */
export type JsonFault = "too-deep" | "too-many-values" | "too-large" | "unbalanced";

const CONTAINER_VALUES = 8;
/** The parser needs 3 us for each name that no other object has, more than for any other value. */
const MEMBER_VALUES = 5;
/** A string this long that begins like a data URL or Base64 is an inline file. */
const FILE_BYTES = 64 * 1024;
const FILE_HEAD_BYTES = 48;
const FILE_HEAD = /^(?:data:|[\w+/=-]+$)/;
/** Longer strings are searched with `indexOf`, which costs a call but reads faster. */
const SHORT_STRING_BYTES = 48;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const ZERO = 0x30;
const NINE = 0x39;
const MINUS = 0x2d;
const DOT = 0x2e;
const PLUS = 0x2b;
const CAPITAL_E = 0x45;
const SMALL_E = 0x65;
/** Shorter numbers without an exponent are exact. */
const LONG_NUMBER_BYTES = 16;

/** What begins at a byte outside strings; 0 for spaces and the letters of `true`, `false` and `null`. */
const STRING = 1;
const NUMBER = 2;
const ITEM = 3;
const MEMBER = 4;
const OPENING = 5;
const CLOSING = 6;

const KINDS = Uint8Array.from({ length: 256 }, (_, byte) => {
  switch (byte) {
    case QUOTE:
      return STRING;
    case COMMA:
      return ITEM;
    case COLON:
      return MEMBER;
    case OPEN_BRACE:
    case OPEN_BRACKET:
      return OPENING;
    case CLOSE_BRACE:
    case CLOSE_BRACKET:
      return CLOSING;
    default:
      return byte === MINUS || isDigit(byte) ? NUMBER : 0;
  }
});

/**
 * Follows the structure of a JSON text while its bytes arrive, before it is parsed: a few compressed kilobytes can
 * contain millions of values, and parsing them takes the memory of the whole process. It checks only the structure; the
 * parser checks the grammar.
 */
export class JsonScanner {
  readonly #limits: JsonLimits;
  fault: JsonFault | undefined;
  /** Members, items and containers so far, as `maxValues` counts them. */
  values = 0;
  /** Members of all objects in the text; if fewer were parsed, a name is repeated. */
  members = 0;
  /** True if a double may not represent one of the numbers: it is long, has an exponent, or is minus zero. */
  mayLoseNumbers = false;
  /** Bytes of the number that is being read; 0 outside numbers. */
  #numberBytes = 0;
  #isNegative = false;
  #depth = 0;
  #inString = false;
  /** True if the last byte of the previous chunk was a backslash that escapes the next byte. */
  #isEscaped = false;
  #stringBytes = 0;
  #mayBeFile = false;
  #bytes = 0;
  #fileBytes = 0;

  constructor(limits: JsonLimits) {
    this.#limits = limits;
  }

  /** Reads the next bytes; returns false once the text is refused. */
  write(chunk: Buffer): boolean {
    if (this.fault) return false;
    this.#bytes += chunk.length;
    let at = this.#inString ? this.#string(chunk, 0) : 0;
    if (this.#numberBytes > 0) at = this.#number(chunk, at);
    if (at < chunk.length) this.#structure(chunk, at);
    this.fault ??= this.#exceeded();
    return this.fault === undefined;
  }

  /** Call when the text is complete; returns false if it is refused. */
  end(): boolean {
    if (!this.fault && (this.#depth !== 0 || this.#inString)) this.fault = "unbalanced";
    return this.fault === undefined;
  }

  /** Reads from outside strings and numbers to the end of the chunk, or to the first fault. */
  #structure(chunk: Buffer, from: number): void {
    for (let at = from; at < chunk.length && this.fault === undefined;) {
      switch (KINDS[chunk[at] as number]) {
        case STRING:
          this.#inString = true;
          this.#stringBytes = 0;
          this.#mayBeFile = false;
          at = this.#string(chunk, at + 1);
          continue;
        case NUMBER:
          at = this.#number(chunk, at);
          continue;
        case ITEM:
          this.#count(1);
          break;
        case MEMBER:
          this.members++;
          this.#count(MEMBER_VALUES);
          break;
        case OPENING:
          this.#enter();
          break;
        case CLOSING:
          if (--this.#depth < 0) this.fault = "unbalanced";
          break;
        default:
          break;
      }
      at++;
    }
  }

  /** Reads a number from its first byte, or on from the previous chunk; returns the position after it. */
  #number(chunk: Buffer, from: number): number {
    let bytes = this.#numberBytes;
    let at = from;
    for (; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (!isInNumber(byte)) break;
      if (bytes === 0) this.#isNegative = byte === MINUS;
      const isMinusZero = bytes === 1 && this.#isNegative && byte === ZERO;
      bytes++;
      if (isMinusZero || bytes >= LONG_NUMBER_BYTES || isExponent(byte)) this.mayLoseNumbers = true;
    }
    this.#numberBytes = at < chunk.length ? 0 : bytes;
    return at;
  }

  #enter(): void {
    if (++this.#depth > this.#limits.maxDepth) this.fault = "too-deep";
    else this.#count(CONTAINER_VALUES);
  }

  #count(values: number): void {
    this.values += values;
    if (this.values > this.#limits.maxValues) this.fault = "too-many-values";
  }

  /** Continues inside a string from `from`; returns the position after its end, or the chunk's length. */
  #string(chunk: Buffer, from: number): number {
    let at = from;
    if (this.#isEscaped && at < chunk.length) {
      this.#isEscaped = false;
      at++;
    }
    const near = Math.min(chunk.length, from + SHORT_STRING_BYTES);
    while (at < near) {
      const byte = chunk[at];
      if (byte === QUOTE) return this.#close(at + 1, from);
      at += byte === BACKSLASH ? 2 : 1;
    }
    const end = this.#farQuote(chunk, at);
    const isShort = end >= 0 && end - from <= FILE_BYTES;
    if (this.#stringBytes === 0 && !isShort)
      this.#mayBeFile = FILE_HEAD.test(chunk.toString("latin1", from, from + FILE_HEAD_BYTES));
    if (end >= 0) return this.#close(end, from);
    this.#stringBytes += chunk.length - from;
    return chunk.length;
  }

  /** Returns the position after the quote that ends the string; -1 if the chunk ends first. */
  #farQuote(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length;) {
      const quote = chunk.indexOf(QUOTE, at);
      const stop = quote < 0 ? chunk.length : quote;
      const isEscaped = backslashesBefore(chunk, stop, at) % 2 === 1;
      if (quote < 0) {
        this.#isEscaped = isEscaped;
        return -1;
      }
      if (!isEscaped) return quote + 1;
      at = quote + 1;
    }
    // The last byte was a backslash whose character is in the next chunk.
    if (from > chunk.length) this.#isEscaped = true;
    return -1;
  }

  #close(end: number, from: number): number {
    this.#inString = false;
    this.#stringBytes += end - from;
    if (this.#mayBeFile && this.#stringBytes > FILE_BYTES) this.#fileBytes += this.#stringBytes;
    return end;
  }

  #exceeded(): JsonFault | undefined {
    const openFile = this.#inString && this.#mayBeFile && this.#stringBytes > FILE_BYTES ? this.#stringBytes : 0;
    return this.#bytes - this.#fileBytes - openFile > this.#limits.maxBytes ? "too-large" : undefined;
  }
}

function isExponent(byte: number): boolean {
  return byte === SMALL_E || byte === CAPITAL_E;
}

function isInNumber(byte: number): boolean {
  return isDigit(byte) || byte === MINUS || byte === DOT || byte === PLUS || isExponent(byte);
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

function backslashesBefore(chunk: Buffer, stop: number, from: number): number {
  let at = stop;
  while (at > from && chunk[at - 1] === BACKSLASH) at--;
  return stop - at;
}

/** No prompt, tool list or model answer has deeper nesting. */
export const MAX_JSON_DEPTH = 64;
/** Parsing a body with this many values takes half a second at most. */
export const MAX_JSON_VALUES = 1_000_000;

/** Returns the fault of a complete text that must not be parsed; the parser finds all other faults. */
export function findJsonFault(bytes: Buffer, limits?: Partial<JsonLimits>): JsonFault | undefined {
  return scanJson(bytes, limits).fault;
}

/** Scans a complete text. */
export function scanJson(bytes: Buffer, limits: Partial<JsonLimits> = {}): JsonScanner {
  const scanner = new JsonScanner({
    maxDepth: MAX_JSON_DEPTH,
    maxValues: MAX_JSON_VALUES,
    maxBytes: bytes.length,
    ...limits,
  });
  scanner.write(bytes);
  return scanner;
}
