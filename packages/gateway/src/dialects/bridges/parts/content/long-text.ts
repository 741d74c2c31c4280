const BLOCK = 2048;
/** A regular expression makes the engine store a text in one piece; the match itself does not matter. */
const ANY = /^./;

function flat(text: string): string {
  return ANY.test(text) ? text : text.slice(0);
}

/**
 * Text that grows by small pieces. The engine stores every piece of a concatenated text as an object until the text is
 * read, which takes six times its size; here, pieces are merged into blocks.
 */
export class LongText {
  readonly #blocks: string[] = [];
  #tail = "";

  get isEmpty(): boolean {
    return this.#tail === "" && this.#blocks.length === 0;
  }

  add(piece: string): void {
    this.#tail += piece;
    if (this.#tail.length < BLOCK) return;
    this.#blocks.push(flat(this.#tail));
    this.#tail = "";
  }

  /** Returns the whole text and forgets it. */
  take(): string {
    const whole = this.toString();
    this.#blocks.length = 0;
    this.#tail = "";
    return whole;
  }

  toString(): string {
    return this.#blocks.join("") + this.#tail;
  }
}
