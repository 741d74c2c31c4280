import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { DialectId, Operation, JsonObject } from "../../dialects/core/types.ts";
import { AppError, invalidRequest } from "../../lib/app-error.ts";
import { watchPace } from "../../lib/async/body-rate.ts";
import type { BodyMemory } from "../../limits/body-memory.ts";
import { readBoundary, checkParts, readFields, FILE_FIELD } from "./form-fields.ts";
import { FormScanner, type FormPart } from "./form-scanner.ts";
import { getMemberNames } from "./member-names.ts";
import type { BodyLimits } from "./read-body.ts";
import { createSpool, type Spool } from "./spool.ts";
import { soundSeconds } from "./sound-length.ts";

/** A form with its files, read once and sent any number of times. */
export interface Upload {
  /** Text fields as the JSON that they would be in a JSON request. */
  readonly fields: JsonObject;
  /** Length of the recording, if the file contains it. */
  readonly seconds: number | undefined;
  readonly contentType: string;
  /** Returns the original bytes, with the fields of `edits` replaced or added in front. */
  open(edits: ReadonlyMap<string, string>): { readonly body: Readable; readonly size: number };
  dispose(): Promise<void>;
}

const MAX_FORM_BYTES = 128 * 1024 * 1024;
const MAX_SOUND_BYTES = 25 * 1024 * 1024;
const SOUND_OPERATIONS: ReadonlySet<Operation> = new Set(["audio.transcriptions", "audio.translations"]);
const PLAIN_BOUNDARY = /^[\w.+*'-]+$/;

/** Operations whose requests may be forms. */
export const FORM_OPERATIONS: ReadonlySet<Operation> = new Set([
  ...SOUND_OPERATIONS,
  "images.edits",
  "images.variations",
]);

/** Reads a form; its files are stored on disk. On failure it rejects with AppError and leaves nothing behind. */
export async function readUpload(
  request: IncomingMessage,
  { operation, dialect }: { readonly operation: Operation; readonly dialect: DialectId },
  { minBytesPerSecond, memory, disk }: Pick<BodyLimits, "minBytesPerSecond" | "memory" | "disk">,
): Promise<Upload> {
  const declared = Number(request.headers["content-length"] ?? 0);
  if (declared > MAX_FORM_BYTES) throw tooLarge();
  const boundary = readBoundary(request);
  const maxFileBytes = SOUND_OPERATIONS.has(operation) ? MAX_SOUND_BYTES : MAX_FORM_BYTES;
  const scanner = new FormScanner(boundary, { maxFileBytes });
  const spool = createSpool(disk);
  try {
    await receive(request, { scanner, spool, memory, minBytesPerSecond });
    scanner.end();
    checkParts(scanner.parts, getMemberNames(dialect));
    const file = requireFile(scanner.parts, SOUND_OPERATIONS.has(operation));
    const seconds = SOUND_OPERATIONS.has(operation) ? await soundSeconds(spool, file) : undefined;
    return createUpload(scanner.parts, spool, { boundary, seconds });
  } catch (error) {
    await spool.dispose();
    throw error;
  }
}

interface Receiving {
  readonly scanner: FormScanner;
  readonly spool: Spool;
  readonly memory: BodyMemory;
  readonly minBytesPerSecond: number;
}

function receive(request: IncomingMessage, { scanner, spool, memory, minBytesPerSecond }: Receiving): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void) => {
      unwatch();
      request.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
      request.pause();
      finish();
    };
    const fail = (error: unknown) => settle(() => reject(AppError.from(error)));
    const unwatch = watchPace({
      size: () => spool.size,
      minBytesPerSecond,
      tooSlow: () => settle(() => reject(new AppError("request_timeout"))),
    });
    const take = (chunk: Buffer) => {
      if (spool.size + chunk.length > MAX_FORM_BYTES) throw tooLarge();
      const before = scanner.fieldBytes;
      scanner.write(chunk);
      memory.take(request, scanner.fieldBytes - before);
      return spool.write(chunk);
    };
    // The end may come while the last chunk is still being written.
    let writing: Promise<void> = Promise.resolve();
    const onData = (chunk: Buffer) => {
      try {
        const written = take(chunk);
        if (!written) return;
        writing = written;
        request.pause();
        written.then(() => request.resume(), fail);
      } catch (error) {
        fail(error);
      }
    };
    const onEnd = () => {
      request.off("error", onGone).off("close", onGone);
      void writing.then(() => settle(resolve), fail);
    };
    const onGone = () => settle(() => reject(new AppError("client_closed_request")));
    request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
  });
}

function requireFile(parts: readonly FormPart[], isOnly: boolean): FormPart {
  const [file, second] = parts.filter((part) => part.filename !== undefined && FILE_FIELD.test(part.name));
  // The length of this file is charged, and another reader could use the other file.
  if (file && second && isOnly)
    throw invalidRequest(second.name, `${second.name} is in the form twice; send one file.`);
  if (!file) throw invalidRequest("file", "The form has no file.");
  return file;
}

interface UploadFacts {
  readonly boundary: string;
  readonly seconds: number | undefined;
}

function createUpload(parts: readonly FormPart[], spool: Spool, { boundary, seconds }: UploadFacts): Upload {
  return {
    fields: readFields(parts),
    seconds,
    // Written by the gateway: if the client named several boundaries, the upstream might read the form by another one.
    contentType: `multipart/form-data; boundary=${PLAIN_BOUNDARY.test(boundary) ? boundary : `"${boundary}"`}`,
    open(edits) {
      const pieces = buildPieces(parts, boundary, edits, spool.size);
      const size = pieces.reduce(
        (sum, piece) => sum + (Buffer.isBuffer(piece) ? piece.length : piece.end - piece.start),
        0,
      );
      return { body: Readable.from(joined(pieces, spool), { objectMode: false, highWaterMark: 64 * 1024 }), size };
    },
    dispose: () => spool.dispose(),
  };
}

/** The gateway's own bytes, or a range of the client's body. */
type Piece = Buffer | { readonly start: number; readonly end: number };

function buildPieces(
  parts: readonly FormPart[],
  boundary: string,
  edits: ReadonlyMap<string, string>,
  size: number,
): Piece[] {
  const pieces: Piece[] = [];
  const missing = [...edits].filter(
    ([name]) => !parts.some((part) => part.name === name && part.filename === undefined),
  );
  for (const [name, value] of missing)
    pieces.push(Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`));
  let at = 0;
  for (const part of parts) {
    const value = part.filename === undefined ? edits.get(part.name) : undefined;
    if (value === undefined || value === part.value.toString("utf8")) continue;
    pieces.push({ start: at, end: part.start }, Buffer.from(value));
    at = part.end;
  }
  pieces.push({ start: at, end: size });
  return pieces;
}

async function* joined(pieces: readonly Piece[], spool: Spool): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    if (Buffer.isBuffer(piece)) yield piece;
    else yield* spool.read(piece.start, piece.end) as AsyncIterable<Buffer>;
  }
}

function tooLarge(): AppError {
  return new AppError("request_too_large", { values: { limit: MAX_FORM_BYTES } });
}
