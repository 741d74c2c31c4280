const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);

/** Follows the brackets of a JSON text byte by byte, from inside of a value. */
export class Nesting {
  #inString = false;
  #isEscaped = false;
  #depth = 0;

  /** Open brackets; -1 once the value itself is closed. */
  get depth(): number {
    return this.#depth;
  }

  /** Reads the next byte; returns false for those of strings. */
  read(byte: number): boolean {
    if (this.#inString) {
      if (byte === QUOTE && !this.#isEscaped) this.#inString = false;
      this.#isEscaped = byte === BACKSLASH && !this.#isEscaped;
      return false;
    }
    if (byte === QUOTE) this.#inString = true;
    else if (OPENING.has(byte)) this.#depth += 1;
    else if (CLOSING.has(byte)) this.#depth -= 1;
    return !this.#inString;
  }
}
