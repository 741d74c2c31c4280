import { MAX_PIECE_BYTES, PieceBuffer, type Piece, type Splitter } from "./pieces.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);
const OPEN_BRACKET = 0x5b;
const BLANKS = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * Splits the elements of the first list that is the value of a member with this name, wherever it is in a JSON text.
 * Everything else is skipped, also a second list of that name: operations repeat their results.
 */
export class ListElementSplitter implements Splitter {
  readonly #name: Buffer;
  readonly #rest: PieceBuffer;
  /** Searching for the list, in one of its elements or between two, or behind it. */
  #place: "before" | "in" | "after" = "before";
  #inString = false;
  #isEscaped = false;
  /** Depth inside the list. */
  #depth = 0;
  /** The last string outside of the list while it is short enough to be the name. */
  #string: number[] = [];
  /** How much of `"name": [` was read. */
  #match: "none" | "name" | "colon" = "none";

  constructor(name: string, maxBytes = MAX_PIECE_BYTES) {
    this.#name = Buffer.from(name);
    this.#rest = new PieceBuffer(maxBytes);
  }

  push(chunk: Buffer): Piece[] {
    const pieces: Piece[] = [];
    let at = 0;
    while (at < chunk.length && this.#place === "before") this.#seek(chunk[at++] as number);
    let from = at;
    for (; at < chunk.length && this.#place === "in"; at++) {
      const byte = chunk[at] as number;
      if (!this.#endsElement(byte)) continue;
      const piece = this.#rest.take(chunk.subarray(from, at));
      if (piece === undefined || !isBlank(piece)) pieces.push(piece);
      from = at + 1;
    }
    if (this.#place === "in" && from < chunk.length) this.#rest.add(chunk.subarray(from));
    return pieces;
  }

  end(): Piece[] {
    return this.#place === "in" && !this.#rest.isEmpty ? [this.#rest.take(Buffer.alloc(0))] : [];
  }

  #seek(byte: number): void {
    if (this.#inString) return this.#seekString(byte);
    if (BLANKS.has(byte)) return;
    if (byte === QUOTE) {
      this.#inString = true;
      this.#string = [];
      this.#match = "none";
      return;
    }
    if (byte === COLON && this.#match === "name") this.#match = "colon";
    else if (byte === OPEN_BRACKET && this.#match === "colon") this.#place = "in";
    else this.#match = "none";
  }

  #seekString(byte: number): void {
    if (byte === QUOTE && !this.#isEscaped) {
      this.#inString = false;
      this.#match = this.#name.equals(Buffer.from(this.#string)) ? "name" : "none";
      return;
    }
    this.#isEscaped = byte === BACKSLASH && !this.#isEscaped;
    if (this.#string.length <= this.#name.length) this.#string.push(byte);
  }

  /** Returns true for the comma or bracket that ends an element. */
  #endsElement(byte: number): boolean {
    if (this.#inString) {
      if (byte === QUOTE && !this.#isEscaped) this.#inString = false;
      this.#isEscaped = byte === BACKSLASH && !this.#isEscaped;
      return false;
    }
    if (byte === QUOTE) this.#inString = true;
    else if (OPENING.has(byte)) this.#depth += 1;
    else if (CLOSING.has(byte)) {
      this.#depth -= 1;
      if (this.#depth < 0) this.#place = "after";
    }
    return this.#depth < 0 || (byte === COMMA && this.#depth === 0);
  }
}

function isBlank(piece: Buffer): boolean {
  return piece.every((byte) => BLANKS.has(byte));
}
