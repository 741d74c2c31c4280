import { getHeapStatistics } from "node:v8";
import { AppError } from "../lib/app-error.ts";

const HELD = Symbol("bytes of the body");
const PARSED = Symbol("bytes of what was parsed from it");

/** The request to which a reserved amount of memory belongs. */
interface Holder {
  [HELD]?: number;
  [PARSED]?: number;
}

const SMALLEST = 64 * 1024 * 1024;
/** A parsed value takes about this many bytes; the scanner counts a member as 6 values, an object as 9. */
const VALUE_BYTES = 24;

/** Returns a quarter of this process's heap limit: bodies, their text and their parsed values share the rest. */
export function defaultBodyMemory(): number {
  return Math.max(SMALLEST, Math.floor(getHeapStatistics().heap_size_limit / 4));
}

/**
 * Memory that the request bodies of this process may hold together. A body that does not fit is refused with 503 and
 * Retry-After instead of crashing the process; a single body is always admitted, because its own limits bound it.
 */
export class BodyMemory {
  readonly #maxBytes: number;
  #used = 0;

  /** @param maxBytes 0 = a quarter of the heap */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes === 0 ? defaultBodyMemory() : maxBytes;
  }

  /** Bytes that are held now. */
  get used(): number {
    return this.#used;
  }

  /** Counts bytes as they arrive; throws `bodies_full` if other bodies hold the rest. */
  take(holder: object, bytes: number): void {
    const own = (holder as Holder)[HELD] ?? 0;
    if (this.#used + bytes > this.#maxBytes && this.#used > own)
      throw new AppError("bodies_full", { retryAfterMs: 1_000 });
    (holder as Holder)[HELD] = own + bytes;
    this.#used += bytes;
  }

  /** Counts the memory that parsing `values` values takes. */
  takeValues(holder: object, values: number): void {
    this.take(holder, values * VALUE_BYTES);
    (holder as Holder)[PARSED] = values * VALUE_BYTES;
  }

  /** Releases the memory of `takeValues` when the parsed values are no longer used. */
  releaseValues(holder: object): void {
    const { [HELD]: own = 0, [PARSED]: parsed = 0 } = holder as Holder;
    const given = Math.min(own, parsed);
    this.#used -= given;
    (holder as Holder)[HELD] = own - given;
    (holder as Holder)[PARSED] = 0;
  }

  /** Releases everything that the holder has. Idempotent. */
  release(holder: object): void {
    const own = (holder as Holder)[HELD];
    if (!own) return;
    this.#used -= own;
    (holder as Holder)[HELD] = 0;
  }
}
