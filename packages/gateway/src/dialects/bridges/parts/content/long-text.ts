const BLOCK = 2048;
/** A regular expression makes the engine lay a text out in one piece; what it finds does not matter. */
const ANY = /^./;

function flat(text: string): string {
  return ANY.test(text) ? text : text.slice(0);
}

/**
 * Text that grows by small pieces. A text that is only added to keeps every piece as an object of its own until
 * someone reads it, which is six times its size; here pieces become blocks.
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

  /** The whole text, which is forgotten here. */
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
