const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const ZERO = 0x30;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const FIRST_FRAME_BYTES = 4_096;

/** Why a text is refused; the parser of the frame and of each element finds all other faults. */
export type ElementsFault = "unbalanced" | "frame-too-large" | "element-too-large" | "too-many-elements" | "repeated";

export interface ElementsLimits {
  readonly maxElements: number;
  readonly maxElementBytes: number;
  /** Limit for everything outside of the elements. */
  readonly maxFrameBytes: number;
  /** The names that lead to the list may also be written with underscores. */
  readonly hasTwoSpellings?: boolean;
}

/**
 * Finds the elements of one list in a JSON text while its bytes arrive, so that a text of any size can be read element
 * by element. The list is named by the members that lead to it. Everything outside of the elements is the frame, in
 * which `0` stands for each element.
 */
export class JsonElements {
  readonly #path: readonly string[];
  readonly #limits: ElementsLimits;
  /** Positions of the elements in the text. */
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  fault: ElementsFault | undefined;
  #frame: Buffer = Buffer.allocUnsafe(FIRST_FRAME_BYTES);
  #frameSize = 0;
  /** Position of the chunk in the text. */
  #base = 0;
  #depth = 0;
  /** How many names of the path lead to the current container. */
  #matched = 0;
  #isInList = false;
  #isElement = false;
  #isScalar = false;
  #inString = false;
  #isEscaped = false;
  #stringFrom = 0;
  #name: string | undefined;
  #hasList = false;

  constructor(path: readonly string[], limits: ElementsLimits) {
    this.#path = path;
    this.#limits = limits;
  }

  /** True if the text has the list. */
  get isFound(): boolean {
    return this.#hasList;
  }

  /** The text without its elements. */
  get frame(): Buffer {
    return this.#frame.subarray(0, this.#frameSize);
  }

  /** Reads the next bytes; returns false once the text is refused. */
  write(chunk: Buffer): boolean {
    let at = 0;
    while (at < chunk.length && this.fault === undefined)
      at = this.#inString ? this.#readString(chunk, at) : this.#readStructure(chunk, at);
    this.#base += chunk.length;
    if (this.#isElement) this.#checkSize(this.#base);
    return this.fault === undefined;
  }

  /** Call when the text is complete; returns false if it is refused. */
  end(): boolean {
    if (this.#depth !== 0 || this.#inString) this.fault ??= "unbalanced";
    return this.fault === undefined;
  }

  #readStructure(chunk: Buffer, at: number): number {
    const byte = chunk[at] as number;
    if (this.#isInList && this.#depth === this.#path.length + 1) this.#followList(byte, this.#base + at);
    if (!this.#isElement) this.#keep(byte);
    if (byte === QUOTE) {
      this.#inString = true;
      this.#stringFrom = this.#frameSize;
    } else if (byte === COLON) this.#readName();
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#open(byte);
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.#close(this.#base + at);
    return at + 1;
  }

  /** Notices the first byte of an element, and the byte after one that is neither object, list nor text. */
  #followList(byte: number, at: number): void {
    const isBetween = byte <= 32 || byte === COMMA || byte === CLOSE_BRACKET;
    if (this.#isElement) {
      if (this.#isScalar && isBetween) this.#endElement(at);
      return;
    }
    if (isBetween) return;
    if (this.starts.length >= this.#limits.maxElements) this.fault = "too-many-elements";
    this.#keep(ZERO);
    this.starts.push(at);
    this.#isElement = true;
    this.#isScalar = byte !== OPEN_BRACE && byte !== OPEN_BRACKET && byte !== QUOTE;
  }

  #endElement(at: number): void {
    this.ends.push(at);
    this.#isElement = false;
    this.#checkSize(at);
  }

  #checkSize(end: number): void {
    if (end - (this.starts.at(-1) ?? end) > this.#limits.maxElementBytes) this.fault ??= "element-too-large";
  }

  #readName(): void {
    if (this.#isElement || this.#depth !== this.#matched + 1) return;
    const quoted = this.frame.toString("utf8", this.#stringFrom - 1, this.#frameSize - 1).trimEnd();
    const name = parseText(quoted);
    this.#name = this.#limits.hasTwoSpellings === true ? name?.replace(/_[a-z]/g, toCapital) : name;
  }

  #open(byte: number): void {
    const isNext = !this.#isElement && this.#depth === this.#matched + 1 && this.#name === this.#path[this.#matched];
    this.#name = undefined;
    const isLast = this.#matched === this.#path.length - 1;
    if (isNext && !this.#isInList && byte === (isLast ? OPEN_BRACKET : OPEN_BRACE)) this.#enter(isLast);
    this.#depth++;
  }

  #enter(isLast: boolean): void {
    this.#matched++;
    if (!isLast) return;
    if (this.#hasList) this.fault = "repeated";
    this.#hasList = true;
    this.#isInList = true;
  }

  #close(at: number): void {
    this.#depth--;
    const listDepth = this.#path.length + 1;
    if (this.#isElement && this.#depth === listDepth) return this.#endElement(at + 1);
    if (this.#isElement) return;
    if (this.#isInList && this.#depth === listDepth - 1) this.#isInList = false;
    if (this.#depth <= this.#matched) this.#matched = Math.max(0, this.#depth - 1);
    if (this.#depth < 0) this.fault = "unbalanced";
  }

  /** Continues inside a string; returns the position after its end, or the chunk's length. */
  #readString(chunk: Buffer, from: number): number {
    let at = from;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      at++;
    }
    for (;;) {
      const quote = chunk.indexOf(QUOTE, at);
      const stop = quote < 0 ? chunk.length : quote;
      const isEscaped = countBackslashes(chunk, stop, at) % 2 === 1;
      if (quote < 0) {
        this.#isEscaped = isEscaped;
        if (!this.#isElement) this.#keepAll(chunk.subarray(from));
        return chunk.length;
      }
      at = quote + 1;
      if (!isEscaped) break;
    }
    this.#inString = false;
    if (!this.#isElement) this.#keepAll(chunk.subarray(from, at));
    else if (this.#depth === this.#path.length + 1) this.#endElement(this.#base + at);
    return at;
  }

  #keep(byte: number): void {
    if (this.#makeRoom(1)) this.#frame[this.#frameSize++] = byte;
  }

  #keepAll(bytes: Buffer): void {
    if (!this.#makeRoom(bytes.length)) return;
    bytes.copy(this.#frame, this.#frameSize);
    this.#frameSize += bytes.length;
  }

  #makeRoom(count: number): boolean {
    const needed = this.#frameSize + count;
    if (needed > this.#limits.maxFrameBytes) {
      this.fault = "frame-too-large";
      return false;
    }
    if (needed <= this.#frame.length) return true;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#frame.length));
    this.#frame.copy(larger, 0, 0, this.#frameSize);
    this.#frame = larger;
    return true;
  }
}

function toCapital(part: string): string {
  return part.slice(1).toUpperCase();
}

function countBackslashes(chunk: Buffer, stop: number, from: number): number {
  let at = stop;
  while (at > from && chunk[at - 1] === BACKSLASH) at--;
  return stop - at;
}

function parseText(quoted: string): string | undefined {
  try {
    const value: unknown = JSON.parse(quoted);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
