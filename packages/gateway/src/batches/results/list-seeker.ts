const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BLANKS = new Set([0x20, 0x09, 0x0a, 0x0d]);

export function isBlank(piece: Buffer): boolean {
  return piece.every((byte) => BLANKS.has(byte));
}

/** Finds where the list begins that is the value of a member with this name, wherever it is in a JSON text. */
export class ListSeeker {
  readonly #name: Buffer;
  #inString = false;
  #isEscaped = false;
  /** The last string while it is short enough to be the name. */
  #string: number[] = [];
  /** How much of `"name": [` was read. */
  #match: "none" | "name" | "colon" = "none";

  constructor(name: string) {
    this.#name = Buffer.from(name);
  }

  /** Reads the next byte; returns true if it opens the list. */
  read(byte: number): boolean {
    if (this.#inString) {
      this.#readString(byte);
      return false;
    }
    if (BLANKS.has(byte)) return false;
    if (byte === QUOTE) {
      this.#inString = true;
      this.#string = [];
      this.#match = "none";
      return false;
    }
    const isOpened = byte === OPEN_BRACKET && this.#match === "colon";
    this.#match = byte === COLON && this.#match === "name" ? "colon" : "none";
    return isOpened;
  }

  #readString(byte: number): void {
    if (byte === QUOTE && !this.#isEscaped) {
      this.#inString = false;
      this.#match = this.#name.equals(Buffer.from(this.#string)) ? "name" : "none";
      return;
    }
    this.#isEscaped = byte === BACKSLASH && !this.#isEscaped;
    if (this.#string.length <= this.#name.length) this.#string.push(byte);
  }
}
