import type { IncomingMessage } from "node:http";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import type { Transform } from "node:stream";
import type { Body, JsonObject } from "../../dialects/core/types.ts";
import { AppError } from "../../lib/app-error.ts";
import { watchPace } from "../../lib/async/body-rate.ts";
import { JsonScanner, MAX_JSON_DEPTH, MAX_JSON_VALUES, type JsonFault } from "../../lib/text/json-scanner.ts";
import type { BodyMemory } from "../../limits/body-memory.ts";
import type { SpoolDisk } from "./spool.ts";

export interface BodyLimits {
  /** Limit in bytes as they arrive. */
  readonly maxBytes: number;
  /** Limit in bytes after decompression. */
  readonly maxDecodedBytes: number;
  /** A body slower than this many bytes a second after 30 s ends in 408. */
  readonly minBytesPerSecond: number;
  /** Limit in decoded bytes of a JSON body without its inline files. */
  readonly maxJsonBytes: number;
  /** The memory limit for all bodies of this process together. */
  readonly memory: BodyMemory;
  /** The disk for all files of forms of this process together. */
  readonly disk?: SpoolDisk;
}

/** A JSON body before it is parsed. */
export interface JsonBytes {
  readonly bytes: Buffer;
  /** Members of all its objects; if they are more than were parsed, a name is repeated. */
  readonly members: number;
  /** True if a double represents each of its numbers. */
  readonly isExact: boolean;
}

/**
 * Reads a whole JSON body. Rejects with AppError. Depth, number of values and size are checked while the bytes arrive,
 * because parsing a hostile text would exhaust the memory of the process.
 */
export function readJson(request: IncomingMessage, limits: BodyLimits): Promise<JsonBytes> {
  return read(request, limits, new JsonChecker(request, limits));
}

/** Reads a whole body that is not JSON. */
export function readBytes(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  return read(request, limits, {
    take: (chunk) => limits.memory.take(request, chunk.length),
    end: (bytes) => bytes,
  });
}

/** Checks the decoded bytes of one body; throws AppError as soon as the body is invalid. */
interface Checker<Read> {
  take(chunk: Buffer): void;
  /** Returns what was read; `bytes` is the whole body. */
  end(bytes: Buffer): Read;
}

/** Checks JSON and counts the memory that it takes. */
class JsonChecker implements Checker<JsonBytes> {
  readonly #request: IncomingMessage;
  readonly #limits: BodyLimits;
  readonly #scanner: JsonScanner;

  constructor(request: IncomingMessage, limits: BodyLimits) {
    this.#request = request;
    this.#limits = limits;
    const { maxJsonBytes: maxBytes } = limits;
    this.#scanner = new JsonScanner({ maxDepth: MAX_JSON_DEPTH, maxValues: MAX_JSON_VALUES, maxBytes });
  }

  take(chunk: Buffer): void {
    this.#limits.memory.take(this.#request, chunk.length);
    if (!this.#scanner.write(chunk)) throw this.#refusal();
  }

  end(bytes: Buffer): JsonBytes {
    // The parser reports a body that ends early, because it knows the position.
    if (!this.#scanner.end() && this.#scanner.fault !== "unbalanced") throw this.#refusal();
    this.#limits.memory.takeValues(this.#request, this.#scanner.values);
    return { bytes, members: this.#scanner.members, isExact: !this.#scanner.mayLoseNumbers };
  }

  #refusal(): AppError {
    return jsonRefusal(this.#scanner.fault ?? "unbalanced", this.#limits.maxJsonBytes);
  }
}

function jsonRefusal(fault: JsonFault, maxJsonBytes: number): AppError {
  switch (fault) {
    case "too-deep":
      return new AppError("invalid_json", { values: { position: `nested deeper than ${MAX_JSON_DEPTH} levels` } });
    case "too-many-values":
      return new AppError("too_many_values", { values: { limit: MAX_JSON_VALUES } });
    case "too-large":
      return new AppError("json_too_large", { values: { limit: maxJsonBytes } });
    case "unbalanced":
      return new AppError("invalid_json", { values: { position: "a bracket closes what was not opened" } });
  }
}

function read<Read>(request: IncomingMessage, limits: BodyLimits, checker: Checker<Read>): Promise<Read> {
  const declared = Number(request.headers["content-length"] ?? 0);
  if (declared > limits.maxBytes) return Promise.reject(tooLarge(limits.maxBytes));
  const encoding = request.headers["content-encoding"];
  const reading = { limits, checker };
  return encoding === undefined ? readPlain(request, reading) : readEncoded(request, encoding, reading);
}

interface Reading<Read> {
  readonly limits: BodyLimits;
  readonly checker: Checker<Read>;
}

async function readEncoded<Read>(request: IncomingMessage, encoding: string, reading: Reading<Read>): Promise<Read> {
  const decoder = decoderFor(encoding);
  return decoder ? readDecoded(request, decoder, reading) : readPlain(request, reading);
}

function readPlain<Read>(request: IncomingMessage, { limits, checker }: Reading<Read>): Promise<Read> {
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
      try {
        checker.take(chunk);
      } catch (error) {
        return fail(AppError.from(error));
      }
      parts.push(chunk);
    };
    const onEnd = () => {
      unwatch();
      try {
        const read = checker.end(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, size));
        request.off("close", onGone);
        resolve(read);
      } catch (error) {
        fail(AppError.from(error));
      }
    };
    const onGone = () => fail(new AppError("client_closed_request"));
    const { minBytesPerSecond } = limits;
    const tooSlow = () => fail(new AppError("request_timeout"));
    const unwatch = watchPace({ size: () => size, minBytesPerSecond, tooSlow });
    request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
    if (request.complete && request.readableEnded) onEnd();
  });
}

async function readDecoded<Read>(
  request: IncomingMessage,
  decoder: Transform,
  { limits, checker }: Reading<Read>,
): Promise<Read> {
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
      checker.take(chunk as Buffer);
      parts.push(chunk as Buffer);
    }
    return checker.end(Buffer.concat(parts, size));
  } catch (error) {
    request.unpipe(decoder);
    decoder.destroy();
    throw error instanceof AppError ? error : new AppError("invalid_encoding", { cause: error });
  } finally {
    unwatch();
  }
}

function decoderFor(encoding: string): Transform | undefined {
  switch (encoding.trim().toLowerCase()) {
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
      throw new AppError("unsupported_encoding", { values: { encoding } });
  }
}

function tooLarge(limit: number): AppError {
  return new AppError("request_too_large", { values: { limit } });
}

interface JsonBodyFacts {
  readonly isExact?: boolean;
  /** Called when the JSON is no longer needed. */
  readonly onForget?: () => void;
}

/** Returns a body whose JSON is parsed on first use. */
export function jsonBody(bytes: Buffer, { isExact, onForget }: JsonBodyFacts = {}): Body {
  let parsed: JsonObject | undefined;
  return {
    bytes,
    isExact,
    json() {
      parsed ??= parseObject(bytes);
      return parsed;
    },
    forget() {
      parsed = undefined;
      onForget?.();
    },
  };
}

function parseObject(bytes: Buffer): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    throw new AppError("invalid_json", { values: { position: describePosition(error, bytes) } });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new AppError("invalid_json", { values: { position: "the body must be a JSON object" } });
  }
  return value as JsonObject;
}

/** Names the position of the error without quoting the body: prompts must not be in messages or causes. */
function describePosition(error: unknown, bytes: Buffer): string {
  if (bytes.length === 0) return "the body is empty";
  const found = /position (\d+)/.exec(error instanceof Error ? error.message : "");
  return found ? `unexpected text at position ${found[1]}` : "unexpected text or end";
}
