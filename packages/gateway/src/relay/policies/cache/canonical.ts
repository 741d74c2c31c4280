import { decimalText } from "@fairway/wire";

/** A request nested deeper than this is not cached. */
const MAX_DEPTH = 128;
const SPACE = /[ \t\n\r]*/y;
const STRING_END = /["\\]/g;
const NUMBER = /-?\d[\d.eE+-]*/y;
/** Matches most numbers of requests; their canonical text is the same. */
const PLAIN = /^-?[1-9]\d{0,14}$/;
const WORD = /true|false|null/y;

/**
 * Returns one text for all spellings of a request: it has no white space, one spelling of escapes and of numbers, and
 * ignores the order of the outermost members. The order inside them stays, because models follow the order of a schema.
 * No two values share a text. Undefined for what readers may understand differently: members of the same name, broken
 * JSON.
 */
export function canonicalJson(text: string): string | undefined {
  try {
    const reader = new Reader(text);
    const value = reader.value(0);
    reader.end();
    return value;
  } catch (error) {
    if (error instanceof NotCanonical) return undefined;
    throw error;
  }
}

class NotCanonical extends Error {}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): string {
    if (depth > MAX_DEPTH) throw new NotCanonical();
    this.#match(SPACE);
    const first = this.#text[this.#at];
    switch (first) {
      case "{":
        return this.#object(depth);
      case "[":
        return this.#list(depth);
      case '"':
        return this.#string();
      case "t":
      case "f":
      case "n":
        return this.#match(WORD);
      default:
        return numberText(this.#match(NUMBER));
    }
  }

  end(): void {
    this.#match(SPACE);
    if (this.#at < this.#text.length) throw new NotCanonical();
  }

  #object(depth: number): string {
    const members = new Map<string, string>();
    for (let more = this.#opens("}"); more; more = this.#hasMore("}")) {
      this.#match(SPACE);
      const name = this.#string();
      this.#match(SPACE);
      this.#expect(":");
      if (members.has(name)) throw new NotCanonical();
      members.set(name, this.value(depth + 1));
    }
    const names = depth === 0 ? [...members.keys()].sort() : [...members.keys()];
    return `{${names.map((name) => `${name}:${members.get(name) as string}`).join(",")}}`;
  }

  #list(depth: number): string {
    const items: string[] = [];
    for (let more = this.#opens("]"); more; more = this.#hasMore("]")) items.push(this.value(depth + 1));
    return `[${items.join(",")}]`;
  }

  #string(): string {
    const start = this.#at;
    this.#expect('"');
    for (;;) {
      STRING_END.lastIndex = this.#at;
      const found = STRING_END.exec(this.#text);
      if (!found) throw new NotCanonical();
      this.#at = found.index + (found[0] === "\\" ? 2 : 1);
      if (found[0] === '"') break;
    }
    try {
      return JSON.stringify(JSON.parse(this.#text.slice(start, this.#at)));
    } catch {
      throw new NotCanonical();
    }
  }

  /** Called after an opening bracket; false if it closes at once. */
  #opens(close: string): boolean {
    this.#at += 1;
    this.#match(SPACE);
    if (this.#text[this.#at] !== close) return true;
    this.#at += 1;
    return false;
  }

  #hasMore(close: string): boolean {
    this.#match(SPACE);
    if (this.#text[this.#at] === ",") {
      this.#at += 1;
      return true;
    }
    this.#expect(close);
    return false;
  }

  #expect(character: string): void {
    if (this.#text[this.#at] !== character) throw new NotCanonical();
    this.#at += 1;
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) throw new NotCanonical();
    this.#at += found.length;
    return found;
  }
}

/** Returns the same text for numbers that are equal as decimals, however many digits they have. */
function numberText(source: string): string {
  return PLAIN.test(source) ? source : (decimalText(source) ?? source);
}
