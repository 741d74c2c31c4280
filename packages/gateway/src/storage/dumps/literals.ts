/** The two dialects of dumps, which differ in their quotes and escapes. */
export type DumpDialect = "mysql" | "postgres";

export type DumpValue = string | null;

/** A dump that is not what its dialect writes. */
export class DumpError extends Error {
  override readonly name = "DumpError";
}

const MYSQL_ESCAPES: Readonly<Record<string, string>> = { "0": "\0", b: "\b", n: "\n", r: "\r", t: "\t", Z: "\u001A" };
const POSTGRES_ESCAPES: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

/** Reads the values of an `INSERT` from `at`: a tuple in parentheses for each row. */
export function* readTuples(text: string, at: number, dialect: DumpDialect): Generator<DumpValue[]> {
  const scanner = new Scanner(text, at, dialect);
  for (;;) {
    scanner.skipTo("(");
    const row: DumpValue[] = [];
    do row.push(scanner.readValue());
    while (scanner.isNext(","));
    scanner.skipTo(")");
    yield row;
    if (!scanner.isNext(",")) return;
  }
}

const BARE = /[^\s,()']+/y;
const BLANKS = /\s*/y;
const CAST =
  /::(?:"[^"]*"|[\w.]+)(?:\s+(?:varying|precision|(?:with|without)\s+time\s+zone))?(?:\(\d+(?:,\d+)?\))?(?:\[\])*/y;

class Scanner {
  readonly #text: string;
  readonly #dialect: DumpDialect;
  #at: number;

  constructor(text: string, at: number, dialect: DumpDialect) {
    this.#text = text;
    this.#at = at;
    this.#dialect = dialect;
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [found = ""] = pattern.exec(this.#text) ?? [];
    this.#at += found.length;
    return found;
  }

  isNext(sign: string): boolean {
    this.#match(BLANKS);
    if (this.#text[this.#at] !== sign) return false;
    this.#at += 1;
    return true;
  }

  skipTo(sign: string): void {
    if (!this.isNext(sign)) throw new DumpError("an INSERT has values in a form that is not known");
  }

  readValue(): DumpValue {
    this.#match(BLANKS);
    const bare = this.#text[this.#at] === "'" ? "" : this.#match(BARE);
    const isText = this.#text[this.#at] === "'" || /^_\w+$/.test(bare);
    if (!isText) return this.#readBare(bare);
    this.#match(BLANKS);
    const value = this.#readText(this.#dialect === "mysql" || /^e$/i.test(bare));
    this.#match(CAST);
    return /^b$/i.test(bare) ? String(Number.parseInt(value || "0", 2)) : value;
  }

  #readBare(text: string): DumpValue {
    const bare = text.replace(/::.*$/, "");
    if (bare === "") throw new DumpError("an INSERT has values in a form that is not known");
    if (/^null$/i.test(bare)) return null;
    if (/^(?:true|false)$/i.test(bare)) return bare.toLowerCase() === "true" ? "1" : "0";
    if (/^0x[0-9a-f]*$/i.test(bare)) return Buffer.from(bare.slice(2), "hex").toString("utf8");
    if (/^[-+]?[\d.]+(?:e[-+]?\d+)?$/i.test(bare)) return bare;
    throw new DumpError("an INSERT has a value that is no number and no text");
  }

  /** Reads a text whose quote is next; a doubled quote stands for one. */
  #readText(hasEscapes: boolean): string {
    const text = this.#text;
    if (text[this.#at] !== "'") throw new DumpError("an INSERT has values in a form that is not known");
    const stop = hasEscapes ? /['\\]/g : /'/g;
    const parts: string[] = [];
    let from = this.#at + 1;
    stop.lastIndex = from;
    for (let found = stop.exec(text); found; found = stop.exec(text)) {
      parts.push(text.slice(from, found.index));
      const next = text[found.index + 1] ?? "";
      if (found[0] === "'" && next !== "'") {
        this.#at = found.index + 1;
        return parts.join("");
      }
      parts.push(found[0] === "'" ? "'" : (this.#escapes[next] ?? next));
      from = found.index + 2;
      stop.lastIndex = from;
    }
    throw new DumpError("a text in an INSERT has no end");
  }

  get #escapes(): Readonly<Record<string, string>> {
    return this.#dialect === "mysql" ? MYSQL_ESCAPES : POSTGRES_ESCAPES;
  }
}

/** Reads one line of a `COPY`. */
export function readCopyLine(line: string): DumpValue[] {
  return line.split("\t").map((field) => (field === "\\N" ? null : readCopyField(field)));
}

function readCopyField(field: string): string {
  if (!field.includes("\\")) return field;
  return field.replaceAll(/\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)/g, (_all, code: string) => {
    if (/^x./.test(code)) return String.fromCodePoint(Number.parseInt(code.slice(1), 16));
    return /^[0-7]/.test(code) ? String.fromCodePoint(Number.parseInt(code, 8)) : (POSTGRES_ESCAPES[code] ?? code);
  });
}

/** Returns the items of an array of PostgreSQL, such as `{a,"b c"}`, as a JSON list; nested arrays stay texts. */
export function readArray(text: string): string {
  const items = [...text.slice(1, -1).matchAll(/"((?:[^"\\]|\\.)*)"|([^,"]+)/g)];
  const values = items.map(([, quoted, bare = ""]) => quoted?.replaceAll(/\\(.)/g, "$1") ?? bare);
  return JSON.stringify(values.filter((value, at) => items[at]?.[1] !== undefined || value !== "NULL"));
}
