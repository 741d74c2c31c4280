import { crc32 } from "node:zlib";
import type { DialectId } from "../../../dialects/core/types.ts";
import { encodeBlock } from "../../../lib/text/sse.ts";
import { parseObject } from "../../../lib/text/json.ts";
import type { Deframer } from "./deframer.ts";

/** https://docs.aws.amazon.com/transcribe/latest/dg/event-stream.html: prelude, headers, payload, two checksums. */
const PRELUDE = 12;
const CHECKSUM = 4;
const TEXT_HEADER = 7;
/** Sizes in bytes of header values whose length follows from their type. */
const FIXED_SIZES: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 };

export interface Frame {
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Buffer;
}

/** Cuts frames out of bytes that arrive in any pieces; throws on a damaged frame. */
export class FrameReader {
  readonly #maxBytes: number;
  #rest: Buffer = Buffer.alloc(0);

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): Frame[] {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const frames: Frame[] = [];
    while (bytes.length >= PRELUDE) {
      const length = bytes.readUInt32BE(0);
      if (length < PRELUDE + CHECKSUM || length > this.#maxBytes)
        throw new Error(`an event frame claims ${length} bytes`);
      if (bytes.length < length) break;
      frames.push(readFrame(bytes.subarray(0, length)));
      bytes = bytes.subarray(length);
    }
    this.#rest = bytes;
    return frames;
  }
}

function readFrame(frame: Buffer): Frame {
  const end = frame.length - CHECKSUM;
  const isWhole =
    crc32(frame.subarray(0, 8)) === frame.readUInt32BE(8) && crc32(frame.subarray(0, end)) === frame.readUInt32BE(end);
  if (!isWhole) throw new Error("an event frame is damaged");
  const payloadAt = PRELUDE + frame.readUInt32BE(4);
  return { headers: readHeaders(frame.subarray(PRELUDE, payloadAt)), payload: frame.subarray(payloadAt, end) };
}

function readHeaders(bytes: Buffer): Record<string, string> {
  const headers: Record<string, string> = {};
  let at = 0;
  while (at < bytes.length) {
    const nameEnd = at + 1 + bytes.readUInt8(at);
    const name = bytes.toString("utf8", at + 1, nameEnd);
    const type = bytes.readUInt8(nameEnd);
    const fixed = FIXED_SIZES[type];
    const valueAt = nameEnd + (fixed === undefined ? 3 : 1);
    const size = fixed ?? bytes.readUInt16BE(nameEnd + 1);
    if (type === TEXT_HEADER) headers[name] = bytes.toString("utf8", valueAt, valueAt + size);
    at = valueAt + size;
  }
  return headers;
}

/** Converts frames to server-sent events: `chunk` events are unpacked, exceptions become `error` events. */
export function createEventStreamDeframer(dialect: DialectId, maxBytes: number): Deframer {
  const reader = new FrameReader(maxBytes);
  return {
    push(chunk) {
      const text = reader
        .push(chunk)
        .map((frame) => encodeFrame(frame, dialect))
        .join("");
      return text === "" ? undefined : Buffer.from(text);
    },
    end: () => undefined,
  };
}

function encodeFrame({ headers, payload }: Frame, dialect: DialectId): string {
  const kind = headers[":message-type"];
  if (kind === "exception" || kind === "error") return encodeException(headers, payload);
  const name = headers[":event-type"] ?? "";
  const text = payload.toString("utf8");
  if (name !== "chunk" || dialect.startsWith("private:")) return encodeBlock(text, name);
  const packed = parseObject(text)?.["bytes"];
  const data = typeof packed === "string" ? Buffer.from(packed, "base64").toString("utf8") : "";
  const type = parseObject(data)?.["type"];
  return data === "" ? "" : encodeBlock(data, typeof type === "string" ? type : undefined);
}

const EXCEPTION_TYPES: Readonly<Record<string, string>> = {
  throttlingexception: "rate_limit_error",
  serviceunavailableexception: "overloaded_error",
  modelnotreadyexception: "overloaded_error",
  validationexception: "invalid_request_error",
  modeltimeoutexception: "timeout_error",
  accessdeniedexception: "permission_error",
};

function encodeException(headers: Readonly<Record<string, string>>, payload: Buffer): string {
  const name = headers[":exception-type"] ?? headers[":error-code"] ?? "internalServerException";
  const said = parseObject(payload.toString("utf8"))?.["message"];
  const message = typeof said === "string" ? said : (headers[":error-message"] ?? name);
  const type = EXCEPTION_TYPES[name.toLowerCase()] ?? "api_error";
  return encodeBlock(JSON.stringify({ type: "error", error: { type, message } }), "error");
}
