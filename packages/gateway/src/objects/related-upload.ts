import { Readable } from "node:stream";
import { object as readObject, text } from "../dialects/core/read.ts";
import type { JsonObject } from "../dialects/core/types.ts";
import { AppError, invalidRequest } from "../lib/app-error.ts";
import { parseObject } from "../lib/text/json.ts";
import { readBoundary } from "../relay/body/form-fields.ts";
import type { OpenAccount } from "./account.ts";
import { createArrivingObject } from "./arriving-object.ts";
import { chooseAccounts } from "./choose-account.ts";
import { shownError } from "./library.ts";
import { findPublicUrl, IDLE_MS, sendJson, type ObjectCall, type ObjectDeps } from "./object-call.ts";
import { requireQuota } from "./quota.ts";
import { readChunks } from "./read-chunks.ts";
import { finishUpload } from "./send-upload.ts";
import { geminiFiles, readDisplayName } from "./shapes/gemini.ts";
import type { UploadPlace } from "./spool-room.ts";
import type { StoredObject } from "./stored-object.ts";
import { readModel } from "./upload-form.ts";
import { readJson } from "./upstream.ts";

const MAX_HEAD_BYTES = 64 * 1024;
const PROTOCOL_HEADER = "x-goog-upload-protocol";
const BLANK_LINE = "\r\n\r\n";

/** The beginning of a body of two parts: what the client says about the file, then the file. */
interface Head {
  readonly file: JsonObject;
  readonly mime: string;
  /** What follows in the bytes that were read. */
  readonly rest: Buffer;
  /** Length of everything before the file. */
  readonly length: number;
}

/** True for an upload of Google's protocol in one request. */
export function isRelated({ request }: Pick<ObjectCall, "request">): boolean {
  return request.headers[PROTOCOL_HEADER] === "multipart";
}

/** Takes a file of Google's protocol in one request. It is sent on while it arrives, if its length is announced. */
export async function uploadRelated(call: ObjectCall, deps: ObjectDeps): Promise<void> {
  const quota = requireQuota(call.caller, deps.snapshots.current().options);
  const boundary = readBoundary(call.request);
  checkLength(readLength(call), deps);
  const [account] = chooseAccounts(
    { caller: call.caller, dialect: "gemini", model: readModel(call) },
    deps.snapshots.current(),
    deps.selection,
  );
  if (!account) throw new AppError("unsupported_by_channel");
  const place = deps.room.enter();
  const chunks = readChunks(call.request, IDLE_MS);
  try {
    const head = await readHead(chunks, boundary);
    const tail = await measureTail(call, { head, chunks, place }, deps);
    const end = `\r\n--${boundary}--`.length;
    const { mime, file } = head;
    const bytes = Math.max(0, tail.size - end);
    const made = { kind: "file", dialect: "gemini", name: readDisplayName(file), mime, purpose: "", bytes } as const;
    const object = createArrivingObject(call, made, account, deps);
    await deps.store.create(object, quota);
    const ready = await send(call, { account, boundary, head, tail, object }, deps);
    sendJson(call.response, { file: geminiFiles.showFile(ready, findPublicUrl(call, deps)) });
  } finally {
    void chunks.return(undefined);
    await place.leave();
  }
}

function readLength({ request }: ObjectCall): number | undefined {
  const length = Number(request.headers["content-length"] ?? Number.NaN);
  return Number.isSafeInteger(length) ? length : undefined;
}

function checkLength(length: number | undefined, { maxFileBytes }: ObjectDeps): void {
  if (length !== undefined && length > maxFileBytes + MAX_HEAD_BYTES)
    throw new AppError("request_too_large", { values: { limit: maxFileBytes } });
}

async function readHead(chunks: AsyncIterable<Buffer>, boundary: string): Promise<Head> {
  let read = Buffer.alloc(0);
  for await (const chunk of keepOpen(chunks)) {
    read = Buffer.concat([read, chunk]);
    const head = parseHead(read, `--${boundary}`);
    if (head) return head;
    if (read.length > MAX_HEAD_BYTES) break;
  }
  throw invalidRequest("body", "Send two parts: JSON about the file, then its bytes.");
}

/** Reads on without closing the source when the loop ends. */
function keepOpen(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const source = chunks[Symbol.asyncIterator]();
  return { [Symbol.asyncIterator]: () => ({ next: () => source.next() }) };
}

/** Undefined while the file has not begun. */
function parseHead(read: Buffer, delimiter: string): Head | undefined {
  const first = read.indexOf(delimiter);
  const metadata = first < 0 ? -1 : read.indexOf(BLANK_LINE, first);
  const second = metadata < 0 ? -1 : read.indexOf(`\r\n${delimiter}\r\n`, metadata + 2);
  const end = second < 0 ? -1 : read.indexOf(BLANK_LINE, second + delimiter.length + 2);
  if (end < 0) return undefined;
  const json = read.subarray(metadata + BLANK_LINE.length, Math.max(second, metadata + BLANK_LINE.length));
  const parsed = json.length === 0 ? {} : parseObject(json.toString("utf8"));
  if (!parsed) throw new AppError("invalid_json", { values: { position: "the first part must be a JSON object" } });
  // A name that the client chose is left out, because ids are the gateway's.
  const { name: _name, ...file } = readObject(parsed as JsonObject, "file") ?? {};
  const type = /^content-type: *([^\r\n]{1,191})/im.exec(read.toString("latin1", second, end))?.[1] ?? "";
  const length = end + BLANK_LINE.length;
  return { file, mime: text(file, "mimeType") ?? text(file, "mime_type") ?? type, rest: read.subarray(length), length };
}

/** Everything from the first byte of the file to the end of the body. */
interface Tail {
  readonly size: number;
  open(): AsyncIterable<Buffer>;
}

interface Reading {
  readonly head: Head;
  readonly chunks: AsyncIterable<Buffer>;
  readonly place: UploadPlace;
}

async function measureTail(call: ObjectCall, { head, chunks, place }: Reading, deps: ObjectDeps): Promise<Tail> {
  const { maxFileBytes } = deps;
  const announced = readLength(call);
  const counted = async function* (): AsyncGenerator<Buffer> {
    let size = head.rest.length;
    yield head.rest;
    for await (const chunk of keepOpen(chunks)) {
      size += chunk.length;
      if (size > maxFileBytes + MAX_HEAD_BYTES)
        throw new AppError("request_too_large", { values: { limit: maxFileBytes } });
      yield chunk;
    }
  };
  if (announced !== undefined) return { size: announced - head.length, open: counted };
  for await (const chunk of counted()) await place.write(chunk);
  const { spool } = place;
  return { size: spool.size, open: () => spool.read(0, spool.size) as AsyncIterable<Buffer> };
}

interface Sending {
  readonly account: OpenAccount;
  readonly boundary: string;
  readonly head: Head;
  readonly tail: Tail;
  readonly object: StoredObject;
}

async function send(
  { request, signal }: ObjectCall,
  { account, boundary, head, tail, object }: Sending,
  deps: ObjectDeps,
): Promise<StoredObject> {
  const begin = Buffer.from(writeHead(boundary, head));
  const broken = new AbortController();
  const join = async function* (): AsyncGenerator<Buffer> {
    try {
      yield begin;
      yield* tail.open();
    } catch (error) {
      broken.abort(AppError.from(error));
      throw error;
    }
  };
  try {
    const answer = await deps.call(account, {
      method: "POST",
      isUpload: true,
      headers: {
        "content-type": `multipart/related; boundary="${boundary}"`,
        "content-length": String(begin.length + tail.size),
        [PROTOCOL_HEADER]: "multipart",
      },
      body: Readable.from(join(), { objectMode: false }),
      signal: AbortSignal.any([signal, broken.signal]),
    });
    const json = (await readJson(answer)) as JsonObject;
    const stated = Number(text(readObject(json, "file") ?? json, "sizeBytes") ?? Number.NaN);
    const bytes = Number.isSafeInteger(stated) ? stated : object.bytes;
    const ready = finishUpload(object, geminiFiles, { answer: json, bytes });
    await deps.store.change(object, ready);
    const way = request.headers["content-length"] === undefined ? "spool" : "stream";
    deps.uploaded({ dialect: "gemini", way, bytes });
    return ready;
  } catch (error) {
    await deps.store.remove(object);
    throw shownError(error, object);
  }
}

/** Written by the gateway, so that the upstream reads what was checked here. */
function writeHead(boundary: string, { file, mime }: Head): string {
  const type = /^[\w.+-]+\/[\w.+-]+$/.test(mime) ? mime : "application/octet-stream";
  const metadata = `--${boundary}\r\nContent-Type: application/json; charset=utf-8\r\n\r\n${JSON.stringify({ file })}`;
  return `${metadata}\r\n--${boundary}\r\nContent-Type: ${type}\r\n\r\n`;
}
