/** What one JSON text may hold. */
export interface JsonLimits {
  readonly maxDepth: number;
  /** Members, items and separators count 1; every object and list counts 8 more, about what each costs once parsed. */
  readonly maxValues: number;
  /** Bytes without the long strings that hold an inline file. */
  readonly maxBytes: number;
}

/** Why a text is refused; `unbalanced` closes more than it opened or ends early. */
export type JsonFault = "too-deep" | "too-many-values" | "too-large" | "unbalanced";

const CONTAINER_VALUES = 8;
/** A string this long that begins like a data URL or Base64 is an inline file. */
const FILE_BYTES = 64 * 1024;
const FILE_HEAD_BYTES = 48;
const FILE_HEAD = /^(?:data:|[\w+/=-]+$)/;
/** Longer strings are searched by `indexOf`, which costs a call but reads faster. */
const SHORT_STRING_BYTES = 48;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/**
 * Follows the structure of a JSON text while its bytes arrive, before anything is parsed: a few compressed kilobytes
 * can hold millions of values, and parsing them takes the memory of the whole process. It checks structure only; the
 * parser checks the grammar.
 */
export class JsonScanner {
  readonly #limits: JsonLimits;
  fault: JsonFault | undefined;
  /** Members, items and containers so far, as `maxValues` counts them. */
  values = 0;
  /** Members of the outermost object: more than its distinct names means that one is repeated. */
  topMembers = 0;
  /** The same for all objects that are members of the outermost one. */
  innerMembers = 0;
  #depth = 0;
  #inString = false;
  /** The last byte of the chunk before was a backslash that escapes the next one. */
  #isEscaped = false;
  #stringBytes = 0;
  #mayBeFile = false;
  #bytes = 0;
  #fileBytes = 0;

  constructor(limits: JsonLimits) {
    this.#limits = limits;
  }

  /** Reads the next bytes; false once the text is refused. */
  write(chunk: Buffer): boolean {
    if (this.fault) return false;
    this.#bytes += chunk.length;
    let at = this.#inString ? this.#string(chunk, 0) : 0;
    while (at < chunk.length) at = this.#structure(chunk, at);
    this.fault ??= this.#exceeded();
    return this.fault === undefined;
  }

  /** The text is complete; false when it is refused. */
  end(): boolean {
    if (!this.fault && (this.#depth !== 0 || this.#inString)) this.fault = "unbalanced";
    return this.fault === undefined;
  }

  /** Reads one byte outside strings, or a whole string; answers where to go on. */
  #structure(chunk: Buffer, at: number): number {
    const byte = chunk[at] as number;
    switch (byte) {
      case QUOTE:
        this.#inString = true;
        this.#stringBytes = 0;
        this.#mayBeFile = false;
        return this.#string(chunk, at + 1);
      case 0x7b: // {
      case 0x5b: // [
        this.#depth++;
        this.values += CONTAINER_VALUES;
        if (this.#depth > this.#limits.maxDepth) this.fault = "too-deep";
        else if (this.values > this.#limits.maxValues) this.fault = "too-many-values";
        break;
      case 0x7d: // }
      case 0x5d: // ]
        if (--this.#depth < 0) this.fault = "unbalanced";
        break;
      case 0x3a: // :
        if (this.#depth === 1) this.topMembers++;
        else if (this.#depth === 2) this.innerMembers++;
        break;
      case COMMA:
        if (++this.values > this.#limits.maxValues) this.fault = "too-many-values";
        break;
      default:
    }
    return this.fault ? chunk.length : at + 1;
  }

  /** Reads on inside a string from `from`; answers the byte behind its end, or the chunk's length. */
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
    if (this.#stringBytes === 0)
      this.#mayBeFile = FILE_HEAD.test(chunk.toString("latin1", from, from + FILE_HEAD_BYTES));
    while (at < chunk.length) {
      const quote = chunk.indexOf(QUOTE, at);
      const stop = quote < 0 ? chunk.length : quote;
      const slashes = backslashesBefore(chunk, stop, at);
      if (quote < 0) {
        this.#isEscaped = slashes % 2 === 1;
        at = chunk.length;
      } else if (slashes % 2 === 0) return this.#close(quote + 1, from);
      else at = quote + 1;
    }
    if (at > chunk.length) this.#isEscaped = true;
    this.#stringBytes += chunk.length - from;
    return chunk.length;
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

function backslashesBefore(chunk: Buffer, stop: number, from: number): number {
  let at = stop;
  while (at > from && chunk[at - 1] === BACKSLASH) at--;
  return stop - at;
}
