/**
 * Maps the characters of a growing text to byte offsets. The text itself is not stored: only the positions at which
 * characters of another width begin are remembered, and plain English has none.
 */
export class BytePlaces {
  readonly #runs = [{ character: 0, byte: 0, width: 1 }];
  #characters = 0;
  #bytes = 0;

  add(written: string): void {
    if (Buffer.byteLength(written) === written.length) this.#extend(written.length, 1);
    else
      for (const character of written) this.#extend(character.length, Buffer.byteLength(character) / character.length);
  }

  bytesTo(offset: number): number {
    const end = Math.max(0, Math.min(offset, this.#characters));
    const run = this.#runs.findLast(({ character }) => character <= end);
    return run === undefined ? 0 : run.byte + (end - run.character) * run.width;
  }

  #extend(characters: number, width: number): void {
    if (this.#runs.at(-1)?.width !== width) this.#runs.push({ character: this.#characters, byte: this.#bytes, width });
    this.#characters += characters;
    this.#bytes += characters * width;
  }
}
