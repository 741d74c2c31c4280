import { skipSpace, skipString, skipValue } from "./json-splice.ts";

const QUOTE = 34;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const LONGEST_SHOWN = 200;

/** Decides whether a repeated member counts, by the names that lead to it; a list adds no name. */
type Counts = (path: readonly string[]) => boolean;

/**
 * Returns the first repeated name in one object of valid JSON that counts, with the names that lead to it. Parsers
 * disagree on which of the two values is meant.
 */
export function repeatedMember(bytes: Buffer, counts: Counts): string | undefined {
  const search = new Search(bytes, counts);
  search.value(skipSpace(bytes, 0), []);
  return search.found?.slice(0, LONGEST_SHOWN);
}

class Search {
  readonly #bytes: Buffer;
  readonly #counts: Counts;
  found: string | undefined;

  constructor(bytes: Buffer, counts: Counts) {
    this.#bytes = bytes;
    this.#counts = counts;
  }

  /** Reads the value at `from`; returns the index after it. */
  value(from: number, path: readonly string[]): number {
    const first = this.#bytes[from];
    if (first === OPEN_BRACE) return this.#object(from, path);
    return first === OPEN_BRACKET ? this.#list(from, path) : skipValue(this.#bytes, from);
  }

  #object(open: number, path: readonly string[]): number {
    const bytes = this.#bytes;
    const names = new Set<string>();
    let at = skipSpace(bytes, open + 1);
    while (bytes[at] === QUOTE && this.found === undefined) {
      const end = skipString(bytes, at);
      const name = JSON.parse(bytes.toString("utf8", at, end)) as string;
      const here = [...path, name];
      if (names.has(name) && this.#counts(here)) this.found = here.join(".");
      names.add(name);
      const colon = skipSpace(bytes, end);
      const next = skipSpace(bytes, this.value(skipSpace(bytes, colon + 1), here));
      if (bytes[next] === CLOSE_BRACE) return next + 1;
      at = skipSpace(bytes, next + 1);
    }
    return at + 1;
  }

  #list(open: number, path: readonly string[]): number {
    const bytes = this.#bytes;
    let at = skipSpace(bytes, open + 1);
    if (bytes[at] === CLOSE_BRACKET) return at + 1;
    while (at < bytes.length && this.found === undefined) {
      const next = skipSpace(bytes, this.value(at, path));
      if (bytes[next] === CLOSE_BRACKET) return next + 1;
      at = skipSpace(bytes, next + 1);
    }
    return at;
  }
}
