import { setImmediate as nextTurn } from "node:timers/promises";

/** A piece of results: the bytes of one item, or undefined for one that is larger than the limit. */
export type Piece = Buffer | undefined;

/** Cuts the pieces out of a text while its bytes arrive. */
export interface Splitter {
  /** Returns the pieces that end in this chunk. */
  push(chunk: Buffer): Piece[];
  /** Returns the last piece of a text without a final separator. */
  end(): Piece[];
}

/** Larger items are counted as unreadable; a picture in its longest form is about 20 MB. */
export const MAX_PIECE_BYTES = 32 * 1024 * 1024;
/** Gives other work a turn after so many bytes. */
const TURN_BYTES = 256 * 1024;

/** Reads all pieces, in lists of those that end in one chunk. Holds one piece in memory besides the chunk. */
export async function* readPieces(
  stream: AsyncIterable<Uint8Array>,
  splitter: Splitter,
): AsyncGenerator<readonly Piece[]> {
  let sinceTurn = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    for (let from = 0; from < bytes.length; from += TURN_BYTES) {
      const part = bytes.subarray(from, from + TURN_BYTES);
      const pieces = splitter.push(part);
      if (pieces.length > 0) yield pieces;
      sinceTurn += part.length;
      if (sinceTurn < TURN_BYTES) continue;
      sinceTurn = 0;
      await nextTurn();
    }
  }
  const last = splitter.end();
  if (last.length > 0) yield last;
}

/** The bytes of a piece that has begun. Beyond the limit they are counted only. */
export class PieceBuffer {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  add(part: Buffer): void {
    this.#size += part.length;
    // The chunk may be reused by its stream, and a short rest would keep all of it alive.
    if (this.#size <= this.#maxBytes) this.#parts.push(Buffer.from(part));
    else this.#parts = [];
  }

  /** Returns the piece that `part` completes. */
  take(part: Buffer): Piece {
    const isWhole = this.#size + part.length <= this.#maxBytes;
    const piece = this.#size === 0 ? part : Buffer.concat([...this.#parts, part]);
    this.#parts = [];
    this.#size = 0;
    return isWhole ? piece : undefined;
  }
}
