import { isBlank, ListSeeker } from "./list-seeker.ts";
import { Nesting } from "./nesting.ts";
import { MAX_PIECE_BYTES, PieceBuffer, type Piece, type Splitter } from "./pieces.ts";

const COMMA = 0x2c;

/**
 * Splits the elements of the first list that is the value of a member with this name, wherever it is in a JSON text.
 * Everything else is skipped, also a second list of that name: operations repeat their results.
 */
export class ListElementSplitter implements Splitter {
  readonly #seeker: ListSeeker;
  readonly #rest: PieceBuffer;
  /** Searching for the list, in one of its elements or between two, or behind it. */
  #place: "before" | "in" | "after" = "before";
  /** That of the list. */
  readonly #nesting = new Nesting();

  constructor(name: string, maxBytes = MAX_PIECE_BYTES) {
    this.#seeker = new ListSeeker(name);
    this.#rest = new PieceBuffer(maxBytes);
  }

  push(chunk: Buffer): Piece[] {
    const pieces: Piece[] = [];
    let at = 0;
    while (at < chunk.length && this.#place === "before")
      if (this.#seeker.read(chunk[at++] as number)) this.#place = "in";
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

  /** Returns true for the comma or bracket that ends an element. */
  #endsElement(byte: number): boolean {
    const isPlain = this.#nesting.read(byte);
    if (this.#nesting.depth < 0) this.#place = "after";
    return this.#nesting.depth < 0 || (isPlain && byte === COMMA && this.#nesting.depth === 0);
  }
}
