import { ListSeeker } from "./list-seeker.ts";
import { Nesting } from "./nesting.ts";

/** A part of a JSON text: the elements of a list, or what is outside of all lists. The brackets are outside. */
export interface ListPart {
  readonly isInside: boolean;
  readonly bytes: Buffer;
}

/** Separates what is inside of the lists that are values of members with one name from everything else. */
export class NamedLists {
  readonly #seeker: ListSeeker;
  #isInside = false;
  /** That of the open list. */
  #nesting = new Nesting();

  constructor(name: string) {
    this.#seeker = new ListSeeker(name);
  }

  push(chunk: Buffer): ListPart[] {
    const parts: ListPart[] = [];
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (!(this.#isInside ? this.#endsList(byte) : this.#seeker.read(byte))) continue;
      const end = this.#isInside ? at : at + 1;
      parts.push({ isInside: this.#isInside, bytes: chunk.subarray(from, end) });
      this.#isInside = !this.#isInside;
      this.#nesting = new Nesting();
      from = end;
    }
    if (from < chunk.length) parts.push({ isInside: this.#isInside, bytes: chunk.subarray(from) });
    return parts;
  }

  #endsList(byte: number): boolean {
    this.#nesting.read(byte);
    return this.#nesting.depth < 0;
  }
}

/** Leaves out the elements of all lists with this name, so that what remains is short. */
export async function* dropElements(stream: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Buffer> {
  const lists = new NamedLists(name);
  for await (const chunk of stream)
    for (const { isInside, bytes } of lists.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)))
      if (!isInside) yield bytes;
}

/**
 * Writes a text in which the lists with this name are empty, with the elements that another text has in its lists of
 * that name, in order. Only one chunk is in memory.
 */
export async function* fillLists(
  frame: string,
  stream: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<Buffer> {
  const filling = new ListFilling(frame, name);
  yield filling.begin();
  const lists = new NamedLists(name);
  for await (const chunk of stream)
    for (const part of lists.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)))
      yield* filling.add(part);
  yield filling.end();
}

class ListFilling {
  readonly #opening: string;
  /** The frame, cut at its empty lists. */
  readonly #rest: string[];
  #isOpen = false;

  constructor(frame: string, name: string) {
    this.#opening = `"${name}":[`;
    // In a string of JSON the quotes would be escaped, so only members look like this.
    this.#rest = frame.split(`${this.#opening}]`);
  }

  begin(): Buffer {
    return Buffer.from(this.#rest.shift() ?? "");
  }

  *add({ isInside, bytes }: ListPart): Generator<Buffer> {
    if (!isInside) {
      if (this.#isOpen) yield Buffer.from(`]${this.#rest.shift() ?? ""}`);
      this.#isOpen = false;
    } else if (this.#rest.length > 0) {
      if (!this.#isOpen) yield Buffer.from(this.#opening);
      this.#isOpen = true;
      yield Buffer.from(bytes);
    }
  }

  end(): Buffer {
    return Buffer.from(this.#rest.map((part) => `${this.#opening}]${part}`).join(""));
  }
}
