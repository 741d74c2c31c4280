/** More bytes are passed on at once, so that back-pressure comes in time. */
const MOST = 64 * 1024;

/**
 * Collects the bytes that arrive in one turn of the event loop, so that they are read and written once: an upstream's
 * events often share a read of its socket, and each is a chunk of HTTP.
 */
export class TurnBuffer {
  readonly #take: (bytes: Buffer) => void;
  readonly #flush = () => this.flush();
  #parts: Buffer[] = [];
  #size = 0;

  /** `take` gets the bytes at the end of the current callback, before the next event of any socket. */
  constructor(take: (bytes: Buffer) => void) {
    this.#take = take;
  }

  add(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#size += chunk.length;
    if (this.#size > MOST) this.flush();
    else if (this.#parts.length === 1) process.nextTick(this.#flush);
  }

  /** Passes on the bytes that are here. */
  flush(): void {
    const parts = this.#parts;
    if (parts.length === 0) return;
    const bytes = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, this.#size);
    this.#parts = [];
    this.#size = 0;
    this.#take(bytes);
  }
}
