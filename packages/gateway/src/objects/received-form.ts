import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { AppError, invalidRequest } from "../lib/app-error.ts";
import type { BodyMemory } from "../limits/body-memory.ts";
import { readBoundary } from "../relay/body/form-fields.ts";
import { FormScanner, type FormPart } from "../relay/body/form-scanner.ts";
import { readChunks } from "./read-chunks.ts";
import type { UploadPlace } from "./spool-room.ts";

/** Fields for the gateway itself, which no upstream gets. */
const OWN_FIELDS: ReadonlySet<string> = new Set(["model", "target_model_names"]);

const MAX_FIELDS_BYTES = 8 * 1024 * 1024;
const STEP_BYTES = 64 * 1024;
const PLAIN_BOUNDARY = /^[\w.+*'-]+$/;

export interface FormLimits {
  readonly maxFileBytes: number;
  readonly idleMs: number;
  readonly memory: BodyMemory;
  /** Name of the field that has the file. */
  readonly fileField?: string;
}

/** The file of a form; `end` is absent while its bytes still arrive. */
export type FormFile = Pick<FormPart, "name" | "filename" | "type" | "start"> & { readonly end?: number };

/** Replaces the bytes of the file. */
export interface FileContent {
  readonly size: number;
  open(): AsyncIterable<Buffer>;
}

/** A form as it is sent on. */
export interface SentForm {
  readonly contentType: string;
  readonly size: number;
  readonly body: Readable;
}

/**
 * A form with one file on its way through the gateway. Its bytes pass as they came; only fields for the gateway are
 * left out.
 */
export class ReceivedForm {
  readonly #request: IncomingMessage;
  readonly #limits: FormLimits;
  readonly #place: UploadPlace;
  readonly #scanner: FormScanner;
  readonly #boundary: string;
  readonly #fileField: string;
  readonly #chunks: AsyncGenerator<Buffer>;
  #countedFields = 0;
  #isWhole = false;

  /** Throws if the body is no form or is announced as too large. */
  constructor(request: IncomingMessage, place: UploadPlace, limits: FormLimits) {
    const max = limits.maxFileBytes + MAX_FIELDS_BYTES;
    const { fileField = "file" } = limits;
    if (Number(request.headers["content-length"] ?? 0) > max)
      throw new AppError("request_too_large", { param: fileField, values: { limit: limits.maxFileBytes } });
    this.#fileField = fileField;
    this.#request = request;
    this.#limits = limits;
    this.#place = place;
    this.#boundary = readBoundary(request);
    this.#scanner = new FormScanner(this.#boundary, limits);
    this.#chunks = readChunks(request, limits.idleMs);
  }

  /** The announced length of the whole body; undefined if the client did not announce one. */
  get announced(): number | undefined {
    const length = Number(this.#request.headers["content-length"] ?? Number.NaN);
    return Number.isSafeInteger(length) ? length : undefined;
  }

  get isWhole(): boolean {
    return this.#isWhole;
  }

  get file(): FormFile | undefined {
    return this.#scanner.parts.find(({ filename }) => filename !== undefined) ?? this.#scanner.openFile;
  }

  field(name: string): string | undefined {
    return this.#scanner.parts
      .find((part) => part.name === name && part.filename === undefined)
      ?.value.toString("utf8");
  }

  /** Reads on until the file begins, or to the end; everything is spooled. */
  async readUntilFile(): Promise<void> {
    while (this.file === undefined && !this.#isWhole) await this.#step();
  }

  async readToEnd(): Promise<void> {
    while (!this.#isWhole) await this.#step();
  }

  async #step(): Promise<void> {
    const chunk = await this.#take();
    if (chunk) await this.#place.write(chunk);
  }

  async #take(): Promise<Buffer | undefined> {
    const next = await this.#chunks.next();
    if (next.done === true) {
      this.#scanner.end();
      this.#isWhole = true;
      return undefined;
    }
    this.#scanner.write(next.value);
    this.#limits.memory.take(this.#request, this.#scanner.fieldBytes - this.#countedFields);
    this.#countedFields = this.#scanner.fieldBytes;
    return next.value;
  }

  /** Lets go of the request, so that the rest of an unread body can be discarded. */
  close(): void {
    void this.#chunks.return(undefined);
  }

  /** Throws if the form has no file, or more than one, or a field twice. */
  check(): void {
    const names = new Set<string>();
    for (const { name, filename } of this.#scanner.parts) {
      if (filename !== undefined && name !== this.#fileField)
        throw invalidRequest(name, `Send the file in the field ${this.#fileField}.`);
      if (names.has(name)) throw invalidRequest(name.slice(0, 100), "A field is in the form twice; send it once.");
      names.add(name);
    }
    if (this.#isWhole && !names.has(this.#fileField)) throw invalidRequest(this.#fileField, "The form has no file.");
  }

  /** Returns the file of a whole form. */
  openFile(): FileContent {
    const { start, end = start } = this.#wholeFile();
    return { size: end - start, open: () => this.#place.spool.read(start, end) as AsyncIterable<Buffer> };
  }

  #wholeFile(): FormFile {
    const { file } = this;
    if (!file) throw invalidRequest(this.#fileField, "The form has no file.");
    return file;
  }

  /** Returns the whole form, which may be sent any number of times. */
  sendWhole(content?: FileContent): SentForm {
    const { spool } = this.#place;
    const { start, end = start } = this.#wholeFile();
    const passed = listPassed(this.#scanner.parts, spool.size);
    const pieces: (Range | FileContent)[] = content ? splitAt(passed, { start, end }, content) : passed;
    const size = pieces.reduce((sum, piece) => sum + ("open" in piece ? piece.size : piece.end - piece.start), 0);
    const join = async function* (): AsyncGenerator<Buffer> {
      for (const piece of pieces)
        yield* "open" in piece ? piece.open() : (spool.read(piece.start, piece.end) as AsyncIterable<Buffer>);
    };
    return { contentType: this.#contentType(), size, body: toReadable(join()) };
  }

  /** Returns a form of the gateway's own with these fields in front of the file. */
  sendWith(fields: Readonly<Record<string, string>>, content: FileContent = this.openFile()): SentForm {
    const { type } = this.#wholeFile();
    const boundary = `fairway-${randomUUID()}`;
    const begin = (name: string) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"`;
    const texts = Object.entries(fields).map(([name, value]) => `${begin(name)}\r\n\r\n${value}\r\n`);
    const mime = type === "" ? "application/octet-stream" : type;
    const head = Buffer.from(`${texts.join("")}${begin("file")}; filename="file"\r\nContent-Type: ${mime}\r\n\r\n`);
    const end = Buffer.from(`\r\n--${boundary}--\r\n`);
    const join = async function* (): AsyncGenerator<Buffer> {
      yield head;
      yield* content.open();
      yield end;
    };
    const size = head.length + content.size + end.length;
    return { contentType: `multipart/form-data; boundary=${boundary}`, size, body: toReadable(join()) };
  }

  /**
   * Returns the form while its file still arrives: what came so far, then the rest as it comes. `fail` gets the reason
   * if the client's part ends badly, because the broken upstream call would only say that it broke.
   */
  sendOn(announced: number, fail: (error: unknown) => void): SentForm {
    const { spool } = this.#place;
    const begun = spool.size;
    const passed = listPassed(this.#scanner.parts, begun);
    const dropped = begun - passed.reduce((sum, { start, end }) => sum + end - start, 0);
    const read = async function* (this: ReceivedForm): AsyncGenerator<Buffer> {
      try {
        for (const { start, end } of passed) yield* spool.read(start, end) as AsyncIterable<Buffer>;
        for (let chunk = await this.#take(); chunk; chunk = await this.#take()) {
          // Checked before the upstream has the last bytes: it would keep a file that the client is refused.
          this.check();
          this.#refuseLateFields();
          yield chunk;
        }
      } catch (error) {
        fail(error);
        throw error;
      }
    };
    return { contentType: this.#contentType(), size: announced - dropped, body: toReadable(read.call(this)) };
  }

  /** A channel was chosen without them, and they are on their way to the upstream. */
  #refuseLateFields(): void {
    const { file } = this;
    const late = this.#scanner.parts.find(({ name, start }) => OWN_FIELDS.has(name) && file && start > file.start);
    if (late) throw invalidRequest(late.name, `Send ${late.name} before the file, or in the header X-Fairway-Model.`);
  }

  /** Written by the gateway, so that the upstream reads the form by the same boundary. */
  #contentType(): string {
    const boundary = PLAIN_BOUNDARY.test(this.#boundary) ? this.#boundary : `"${this.#boundary}"`;
    return `multipart/form-data; boundary=${boundary}`;
  }
}

interface Range {
  readonly start: number;
  readonly end: number;
}

const LINE_BREAK_BYTES = 2;

/** Returns the ranges of a body of this size without the gateway's own fields. */
function listPassed(parts: readonly FormPart[], size: number): Range[] {
  const passed: Range[] = [];
  let at = 0;
  parts.forEach(({ name, filename, end }, place) => {
    if (!OWN_FIELDS.has(name) || filename !== undefined) return;
    // The delimiter in front of a part follows the value of the part before.
    const before = parts[place - 1]?.end ?? 0;
    if (before > at) passed.push({ start: at, end: before });
    at = end;
  });
  if (size > at) passed.push({ start: at, end: size });
  const [first, ...rest] = passed;
  // A body begins with a delimiter that has no line break in front.
  return first && first.start > 0 ? [{ ...first, start: first.start + LINE_BREAK_BYTES }, ...rest] : passed;
}

/** Puts other bytes in the place of a range that one of these ranges contains. */
function splitAt(passed: readonly Range[], { start, end }: Range, content: FileContent): (Range | FileContent)[] {
  return passed.flatMap((range) =>
    range.start <= start && end <= range.end
      ? [{ start: range.start, end: start }, content, { start: end, end: range.end }]
      : [range],
  );
}

function toReadable(chunks: AsyncGenerator<Buffer>): Readable {
  return Readable.from(chunks, { objectMode: false, highWaterMark: STEP_BYTES });
}
