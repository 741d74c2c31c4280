import { MAX_PIECE_BYTES, PieceBuffer, type Piece, type Splitter } from "./pieces.ts";

const NEW_LINE = 0x0a;
const EMPTY = Buffer.alloc(0);

/** Splits JSON lines. Blank lines and the CR of CRLF are left to the caller. */
export class LineSplitter implements Splitter {
  readonly #rest: PieceBuffer;

  constructor(maxBytes = MAX_PIECE_BYTES) {
    this.#rest = new PieceBuffer(maxBytes);
  }

  push(chunk: Buffer): Piece[] {
    const lines: Piece[] = [];
    let from = 0;
    for (let end = chunk.indexOf(NEW_LINE); end >= 0; end = chunk.indexOf(NEW_LINE, from)) {
      lines.push(this.#rest.take(chunk.subarray(from, end)));
      from = end + 1;
    }
    if (from < chunk.length) this.#rest.add(chunk.subarray(from));
    return lines;
  }

  end(): Piece[] {
    return this.#rest.isEmpty ? [] : [this.#rest.take(EMPTY)];
  }
}
