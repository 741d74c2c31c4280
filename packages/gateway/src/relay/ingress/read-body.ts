import type { IncomingMessage } from "node:http";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import type { Transform } from "node:stream";
import type { Body, JsonObject } from "../../dialects/core/types.ts";
import { AppError } from "../../lib/app-error.ts";
import { watchPace } from "../../lib/async/body-rate.ts";

export interface BodyLimits {
  /** Bytes as they arrive. */
  readonly maxBytes: number;
  /** Bytes after decompression. */
  readonly maxDecodedBytes: number;
  /** A body slower than this many bytes a second after 30 s ends in 408. */
  readonly minBytesPerSecond: number;
}

const MAX_DEPTH = 64;

/** Reads a whole request body; resolves with its decoded bytes. Rejects with AppError. */
export async function readBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const declared = Number(request.headers["content-length"] ?? 0);
  if (declared > limits.maxBytes) throw tooLarge(limits.maxBytes);
  const decoder = decoderFor(request.headers["content-encoding"]);
  return decoder ? readDecoded(request, decoder, limits) : readPlain(request, limits);
}

function readPlain(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let size = 0;
    const fail = (error: AppError) => {
      unwatch();
      request.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limits.maxBytes) return fail(tooLarge(limits.maxBytes));
      parts.push(chunk);
    };
    const onEnd = () => {
      unwatch();
      request.off("close", onGone);
      resolve(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, size));
    };
    const onGone = () => fail(new AppError("client_closed_request"));
    const { minBytesPerSecond } = limits;
    const tooSlow = () => fail(new AppError("request_timeout"));
    const unwatch = watchPace({ size: () => size, minBytesPerSecond, tooSlow });
    request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
    if (request.complete && request.readableEnded) onEnd();
  });
}

async function readDecoded(request: IncomingMessage, decoder: Transform, limits: BodyLimits): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  let received = 0;
  request.on("data", (chunk: Buffer) => {
    received += chunk.length;
    if (received > limits.maxBytes) decoder.destroy(tooLarge(limits.maxBytes));
  });
  request.on("error", () => decoder.destroy(new AppError("client_closed_request")));
  request.on("aborted", () => decoder.destroy(new AppError("client_closed_request")));
  const unwatch = watchPace({
    size: () => received,
    minBytesPerSecond: limits.minBytesPerSecond,
    tooSlow: () => decoder.destroy(new AppError("request_timeout")),
  });
  try {
    for await (const chunk of request.pipe(decoder)) {
      size += (chunk as Buffer).length;
      if (size > limits.maxDecodedBytes) throw tooLarge(limits.maxDecodedBytes);
      parts.push(chunk as Buffer);
    }
  } catch (error) {
    request.unpipe(decoder);
    decoder.destroy();
    throw error instanceof AppError ? error : new AppError("invalid_encoding", { cause: error });
  } finally {
    unwatch();
  }
  return Buffer.concat(parts, size);
}

function decoderFor(encoding: string | undefined): Transform | undefined {
  switch (encoding?.trim().toLowerCase()) {
    case undefined:
    case "":
    case "identity":
      return undefined;
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    case "zstd":
      return createZstdDecompress();
    default:
      throw new AppError("unsupported_encoding", { values: { encoding: encoding ?? "" } });
  }
}

function tooLarge(limit: number): AppError {
  return new AppError("request_too_large", { values: { limit } });
}

/** A body whose JSON is parsed on first use; depth and shape are checked then. */
export function jsonBody(bytes: Buffer): Body {
  let parsed: JsonObject | undefined;
  return {
    bytes,
    json() {
      parsed ??= parseObject(bytes);
      return parsed;
    },
    forget() {
      parsed = undefined;
    },
  };
}

function parseObject(bytes: Buffer): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    throw new AppError("invalid_json", { values: { position: positionOf(error, bytes) } });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new AppError("invalid_json", { values: { position: "the body must be a JSON object" } });
  }
  if (opensMoreThan(bytes, MAX_DEPTH) && depthExceeds(bytes)) {
    throw new AppError("invalid_json", { values: { position: `nested deeper than ${MAX_DEPTH} levels` } });
  }
  return value as JsonObject;
}

/** Names where parsing stopped without quoting the body: prompts do not belong into messages, nor into a cause. */
function positionOf(error: unknown, bytes: Buffer): string {
  if (bytes.length === 0) return "the body is empty";
  const found = /position (\d+)/.exec(error instanceof Error ? error.message : "");
  return found ? `unexpected text at position ${found[1]}` : "unexpected text or end";
}

/** Most bodies have too few brackets to be deep, in texts or not; to look for them costs a tenth of a walk. */
function opensMoreThan(bytes: Buffer, most: number): boolean {
  let opened = 0;
  for (const bracket of [0x5b, 0x7b])
    for (let at = bytes.indexOf(bracket); at >= 0; at = bytes.indexOf(bracket, at + 1)) {
      opened += 1;
      if (opened > most) return true;
    }
  return false;
}

function depthExceeds(bytes: Buffer): boolean {
  let depth = 0;
  let isText = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (isText) {
      if (byte === 0x5c) i++;
      else if (byte === 0x22) isText = false;
    } else if (byte === 0x22) isText = true;
    else if (byte === 0x7b || byte === 0x5b) {
      depth++;
      if (depth > MAX_DEPTH) return true;
    } else if (byte === 0x7d || byte === 0x5d) depth--;
  }
  return false;
}
