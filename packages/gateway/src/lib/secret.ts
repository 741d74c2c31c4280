import { inspect } from "node:util";

/** Text that must never reach a log, an answer or an error; `reveal()` is the only way out. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }

  get isEmpty(): boolean {
    return this.#text === "";
  }

  toJSON(): string {
    return "***";
  }

  toString(): string {
    return "***";
  }

  [inspect.custom](): string {
    return "***";
  }
}
