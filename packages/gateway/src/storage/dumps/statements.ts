import { DumpError, readCopyLine, type DumpDialect, type DumpValue } from "./literals.ts";

/** What a dump contains, piece by piece. */
type DumpPiece =
  | { readonly kind: "statement"; readonly text: string }
  | { readonly kind: "row"; readonly values: DumpValue[] };

/** Longer than the largest packet that MySQL accepts; a longer statement would only fill the memory. */
const MAX_STATEMENT = 1024 * 1024 * 1024;
const COPY = /^\s*COPY\s[^;]*\sFROM\s+stdin\s*$/i;

/**
 * Cuts the text of a dump, as it arrives, into statements without comments; the lines of a `COPY` follow its statement
 * as rows.
 */
export class DumpSplitter {
  readonly #dialect: DumpDialect;
  readonly #special: RegExp;
  /** The text that is not yet cut. */
  #text = "";
  /** Where the search continues. */
  #at = 0;
  /** Parts of the current statement. */
  #parts: string[] = [];
  #length = 0;
  /** What ends the quote or comment that the position is in; "" outside of them. */
  #end = "";
  #isCopy = false;
  /** True if the end of the line with the `COPY` has not arrived yet. */
  #isLineOpen = false;

  constructor(dialect: DumpDialect) {
    this.#dialect = dialect;
    this.#special = dialect === "mysql" ? /['"`;]|--[\s]|#|\/\*/g : /['";]|--|\/\*|\$\w*\$/g;
  }

  /** Takes the next text; `isLast` marks the end. */
  *write(text: string, isLast = false): Generator<DumpPiece> {
    this.#text = this.#text.slice(this.#at) + text;
    this.#at = 0;
    for (;;) {
      const piece = this.#isCopy ? this.#cutRow(isLast) : this.#cutStatement(isLast);
      if (piece === undefined) return;
      if (piece !== "more") yield piece;
    }
  }

  #cutRow(isLast: boolean): DumpPiece | "more" | undefined {
    const end = this.#text.indexOf("\n", this.#at);
    if (end < 0) {
      if (isLast) throw new DumpError("the dump ends inside a COPY: it is not complete");
      return undefined;
    }
    const line = this.#text.slice(this.#at, end).replace(/\r$/, "");
    this.#at = end + 1;
    const isRest = this.#isLineOpen && line.trim() === "";
    this.#isLineOpen = false;
    if (isRest) return "more";
    if (line !== "\\.") return { kind: "row", values: readCopyLine(line) };
    this.#isCopy = false;
    return "more";
  }

  #cutStatement(isLast: boolean): DumpPiece | "more" | undefined {
    if (this.#end !== "") return this.#leave(isLast);
    this.#special.lastIndex = this.#at;
    const found = this.#special.exec(this.#text);
    // A mark of two characters may be cut between two pieces of the text.
    const safe = isLast ? this.#text.length : Math.max(this.#at, this.#text.length - 16);
    if (!found || (found.index >= safe && !isLast)) {
      this.#keepTo(safe);
      if (isLast && withoutCommands(this.#parts.join("")) !== "") throw new DumpError("the dump is not complete");
      return undefined;
    }
    const [mark] = found;
    if (mark !== ";") return this.#enter(mark, found.index);
    this.#keepTo(found.index);
    this.#at = found.index + mark.length;
    return this.#finish();
  }

  /** Goes into the quote or comment that the mark at `index` begins. */
  #enter(mark: string, index: number): "more" {
    const isComment = mark.startsWith("--") || mark === "#" || mark === "/*";
    const next = index + mark.length;
    this.#keepTo(isComment ? index : next);
    this.#at = next;
    this.#end = mark === "/*" ? "*/" : isComment ? "\n" : mark;
    // The blank behind the dashes may be the end of the line.
    if (mark.endsWith("\n")) this.#end = "";
    return "more";
  }

  /** Goes to the end of a quote or comment. */
  #leave(isLast: boolean): "more" | undefined {
    const isQuote = this.#end !== "*/" && this.#end !== "\n";
    const hasEscapes = this.#end === "'" && this.#hasEscapes();
    const end = hasEscapes ? this.#findEscapedEnd() : this.#text.indexOf(this.#end, this.#at);
    if (end < 0) {
      if (isLast && isQuote) throw new DumpError("the dump ends inside a text: it is not complete");
      if (!isQuote) this.#at = Math.max(this.#at, this.#text.length - 1);
      else if (!hasEscapes) this.#keepTo(Math.max(this.#at, this.#text.length - this.#end.length + 1));
      return undefined;
    }
    const next = end + this.#end.length;
    if (isQuote) this.#keepTo(next);
    this.#at = next;
    this.#end = "";
    return "more";
  }

  /** PostgreSQL escapes with backslashes only in texts that begin with E. */
  #hasEscapes(): boolean {
    if (this.#dialect === "mysql") return true;
    return /(?:^|[\s,(])[eE]'$/.test(this.#parts.at(-1) ?? "");
  }

  #findEscapedEnd(): number {
    const stop = /['\\]/g;
    stop.lastIndex = this.#at;
    for (let found = stop.exec(this.#text); found; found = stop.exec(this.#text)) {
      if (found[0] === "'") return found.index;
      stop.lastIndex = found.index + 2;
    }
    return -1;
  }

  /** Takes the text before `end` as a part of the statement. */
  #keepTo(end: number): void {
    const text = this.#text.slice(this.#at, end);
    this.#at = end;
    if (text === "") return;
    this.#length += text.length;
    if (this.#length > MAX_STATEMENT) throw new DumpError("a statement of the dump is longer than 1 GiB");
    this.#parts.push(text);
  }

  #finish(): DumpPiece | "more" {
    const text = withoutCommands(this.#parts.join(""));
    this.#parts = [];
    this.#length = 0;
    if (text === "") return "more";
    if (COPY.test(text)) {
      this.#isCopy = true;
      const end = this.#text.indexOf("\n", this.#at);
      // What follows the statement in its line is blank.
      if (end >= 0) this.#at = end + 1;
      this.#isLineOpen = end < 0;
    }
    return { kind: "statement", text };
  }
}

/** Removes commands of psql, which stand in lines of their own and have no semicolon. */
function withoutCommands(text: string): string {
  return text.trim().replace(/^(?:\\[^\n]*(?:\n\s*|$))+/, "");
}
