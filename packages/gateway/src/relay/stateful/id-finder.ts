const LOOKED_AT = 16 * 1024;
/** The first id of a whole answer, of `response.created` and of `message_start` is the answer's own. */
const ID = /"id"\s*:\s*"([\w.:-]{1,191})"/;

/** Finds the id of an answer in its first bytes. */
export class IdFinder {
  readonly #onId: (id: string) => void;
  #text: string | undefined = "";

  constructor(onId: (id: string) => void) {
    this.#onId = onId;
  }

  feed(chunk: Buffer): void {
    if (this.#text === undefined) return;
    this.#text += chunk.toString("latin1", 0, LOOKED_AT);
    const id = ID.exec(this.#text)?.[1];
    if (id === undefined && this.#text.length < LOOKED_AT) return;
    this.#text = undefined;
    if (id !== undefined) this.#onId(id);
  }
}
