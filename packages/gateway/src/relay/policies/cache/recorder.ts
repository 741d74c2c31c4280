/** Longest answer that is cached. */
export const MAX_CACHED_BYTES = 1024 * 1024;

/** Copies the bytes of an answer on their way to the client. */
export class Recorder {
  #parts: Buffer[] = [];
  #size = 0;
  #contentType = "";

  head(headers: Readonly<Record<string, string>>): void {
    this.#contentType = headers["content-type"] ?? "";
  }

  add(bytes: Buffer): void {
    this.#size += bytes.length;
    if (this.#size > MAX_CACHED_BYTES) this.#parts = [];
    else this.#parts.push(bytes);
  }

  /** Undefined if there is nothing, or too much. */
  get recorded(): { readonly body: Buffer; readonly contentType: string } | undefined {
    if (this.#size === 0 || this.#size > MAX_CACHED_BYTES) return undefined;
    return { body: Buffer.concat(this.#parts, this.#size), contentType: this.#contentType };
  }
}
