import { AppError, invalidRequest } from "../../lib/app-error.ts";

/** One part of a form, by its position in the body. */
export interface FormPart {
  readonly name: string;
  /** Undefined = a text field. */
  readonly filename: string | undefined;
  /** Media type of a file, as the client named it; "" if it named none. */
  readonly type: string;
  /** Offsets of the value: the first byte, and the byte after the last. */
  readonly start: number;
  readonly end: number;
  /** The text of a field; the first bytes of a file. */
  readonly value: Buffer;
}

export interface FormLimits {
  /** Limit for one file. */
  readonly maxFileBytes: number;
}

const MAX_HEAD_BYTES = 8 * 1024;
/** Limit for all fields together; voices to recognize are sent in fields, as data URLs. */
const MAX_FIELD_BYTES = 8 * 1024 * 1024;
const MAX_PARTS = 256;
/** Enough for the header of a sound file. */
const FILE_HEAD_BYTES = 4 * 1024;
const CRLF = Buffer.from("\r\n");
const HEAD_END = Buffer.from("\r\n\r\n");
/** One parameter; each part of the pattern begins with a different character, so that no text makes it backtrack. */
const PARAMETER = /;[ \t]*(name|filename\*?)=(?:"([^"\r\n]*)"|([^;"\s]+))/iy;
const PLAIN_NAME = /^[\w\-[\]]+$/;
const PARAMETER_NAMES = ["name", "filename", "filename*"];

/**
 * Finds the parts of a `multipart/form-data` body while it streams in. Stricter than most readers, so that an upstream
 * that gets the same bytes sees the same fields: no preamble, one reading of every name.
 */
export class FormScanner {
  readonly #delimiter: Buffer;
  readonly #limits: FormLimits;
  readonly parts: FormPart[] = [];
  #rest: Buffer;
  /** Offset of `#rest` in the body; the first delimiter is read as if a line break preceded it. */
  #at = -CRLF.length;
  #state: "value" | "delimiter" | "head" | "end" = "value";
  #open: (Head & { start: number; size: number; value: Buffer[] }) | undefined;
  /** Bytes of fields so far, all held in memory. */
  fieldBytes = 0;

  constructor(boundary: string, limits: FormLimits) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
    this.#limits = limits;
    this.#rest = CRLF;
  }

  write(chunk: Buffer): void {
    if (this.#state === "end") return;
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (this.#step());
  }

  /** The file whose bytes are arriving; undefined between files. */
  get openFile(): Pick<FormPart, "name" | "filename" | "type" | "start"> | undefined {
    return this.#open?.filename === undefined ? undefined : this.#open;
  }

  /** Throws when the body ended before its last delimiter. */
  end(): void {
    if (this.#state !== "end") throw broken("the form ends before its last boundary");
  }

  #step(): boolean {
    switch (this.#state) {
      case "value":
        return this.#value();
      case "delimiter":
        return this.#afterDelimiter();
      case "head":
        return this.#head();
      case "end":
        return false;
    }
  }

  #value(): boolean {
    const found = this.#rest.indexOf(this.#delimiter);
    if (!this.#open && found !== 0) {
      if (found > 0 || this.#rest.length >= this.#delimiter.length)
        throw broken("the form does not begin with its boundary");
      return false;
    }
    const size = found < 0 ? Math.max(0, this.#rest.length - this.#delimiter.length + 1) : found;
    this.#keep(this.#rest.subarray(0, size));
    this.#skip(size);
    if (found < 0) return false;
    this.#close();
    this.#skip(this.#delimiter.length);
    this.#state = "delimiter";
    return true;
  }

  #afterDelimiter(): boolean {
    if (this.#rest.length < CRLF.length) return false;
    const next = this.#rest.toString("latin1", 0, CRLF.length);
    if (next !== "\r\n" && next !== "--") throw broken("a boundary is not followed by a line end");
    if (next === "--") this.#rest = Buffer.alloc(0);
    this.#state = next === "--" ? "end" : "head";
    return next !== "--";
  }

  /** The line break of the delimiter is still unread, so that a part without headers is recognized as such. */
  #head(): boolean {
    const found = this.#rest.indexOf(HEAD_END);
    if (found > MAX_HEAD_BYTES || (found < 0 && this.#rest.length > MAX_HEAD_BYTES))
      throw broken("the head of a part is too long");
    if (found < 0) return false;
    const lines = this.#rest.toString("utf8", CRLF.length, Math.max(found, CRLF.length)).split("\r\n");
    if (this.parts.length === MAX_PARTS) throw broken(`the form has more than ${MAX_PARTS} parts`);
    this.#skip(found + HEAD_END.length);
    this.#open = { ...parseHead(lines), start: this.#at, size: 0, value: [] };
    // An empty value is followed by the delimiter at once.
    this.#state = "value";
    return true;
  }

  #keep(bytes: Buffer): void {
    const part = this.#open;
    if (!part || bytes.length === 0) return;
    const isFile = part.filename !== undefined;
    const limit = isFile ? this.#limits.maxFileBytes : MAX_FIELD_BYTES;
    if (!isFile) this.fieldBytes += bytes.length;
    if ((isFile ? part.size + bytes.length : this.fieldBytes) > limit)
      throw new AppError("request_too_large", { param: part.name, values: { limit } });
    const wanted = isFile ? Math.max(0, FILE_HEAD_BYTES - part.size) : bytes.length;
    if (wanted > 0) part.value.push(Buffer.from(bytes.subarray(0, wanted)));
    part.size += bytes.length;
  }

  #close(): void {
    const part = this.#open;
    if (!part) return;
    const { name, filename, type, start, size, value } = part;
    this.parts.push({ name, filename, type, start, end: start + size, value: Buffer.concat(value) });
    this.#open = undefined;
  }

  #skip(count: number): void {
    this.#rest = this.#rest.subarray(count);
    this.#at += count;
  }
}

type Head = Pick<FormPart, "name" | "filename" | "type">;

const TYPE = /^content-type:[ \t]*([\w.+/-]{1,100})/i;

function parseHead(lines: readonly string[]): Head {
  const dispositions = lines.filter((line) => /^content-disposition\s*:/i.test(line));
  const text = dispositions[0]?.slice(dispositions[0].indexOf(":") + 1).trim() ?? "";
  const given = dispositions.length === 1 ? parseParameters(text) : undefined;
  const name = given?.get("name");
  if (!given || name === undefined) throw broken("a part has no readable name");
  const isFile = given.has("filename") || given.has("filename*");
  const type = lines.map((line) => TYPE.exec(line)?.[1]).find((one) => one !== undefined) ?? "";
  return { name, type, filename: isFile ? (given.get("filename") ?? "") : undefined };
}

/** Returns the parameters of `form-data` in the order name, filename, filename*; undefined for any other text. */
function parseParameters(disposition: string): ReadonlyMap<string, string> | undefined {
  if (!/^form-data(?=;)/i.test(disposition)) return undefined;
  const found = new Map<string, string>();
  PARAMETER.lastIndex = "form-data".length;
  let last = -1;
  while (PARAMETER.lastIndex < disposition.length) {
    const parameter = PARAMETER.exec(disposition);
    const place = PARAMETER_NAMES.indexOf((parameter?.[1] ?? "").toLowerCase());
    if (!parameter || place <= last) return undefined;
    const value = parameter[2] ?? parameter[3] ?? "";
    if (place === 0 && !isReadable(parameter)) return undefined;
    found.set(PARAMETER_NAMES[place] as string, value);
    last = place;
  }
  return found.has("name") ? found : undefined;
}

/** True if all readers read the value the same way: no escapes in quotes, and no marks without them. */
function isReadable([, , quoted, plain = ""]: RegExpExecArray): boolean {
  return quoted === undefined ? PLAIN_NAME.test(plain) : !quoted.includes("\\");
}

function broken(reason: string): AppError {
  return invalidRequest("body", `The body is not a readable form: ${reason}.`);
}
