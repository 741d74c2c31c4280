import type { IncomingMessage } from "node:http";
import { AppError } from "../lib/app-error.ts";
import { watchPace } from "../lib/async/body-rate.ts";
import { Refusal } from "../lib/refusal.ts";
import { JsonScanner, MAX_JSON_DEPTH, MAX_JSON_VALUES } from "../lib/text/json-scanner.ts";
import type { BodyMemory } from "../limits/body-memory.ts";

/** The client closed the connection before its body was complete; there is no client left to answer. */
export class ClientGone extends Error {}

/** How much of a body is read, and where its bytes are counted. */
export interface ReadSettings {
  readonly bytes: number;
  readonly memory: BodyMemory;
}

/**
 * Reads a JSON object (or an array, if the endpoint accepts a list); refuses with `invalid_parameter` (400) or
 * `body_too_large`.
 */
export async function readJsonBody(
  request: IncomingMessage,
  { takesList, ...settings }: ReadSettings & { readonly takesList: boolean },
): Promise<unknown> {
  // Parsing a hostile text would exhaust the memory of the process, so its structure is checked first.
  const { bytes: maxBytes, memory } = settings;
  const scanner = new JsonScanner({ maxDepth: MAX_JSON_DEPTH, maxValues: MAX_JSON_VALUES, maxBytes });
  const text = await read(request, settings, (chunk) => {
    if (!scanner.write(chunk)) throw new Refusal("invalid_parameter", { status: 400 });
  });
  if (!scanner.end()) throw new Refusal("invalid_parameter", { status: 400 });
  memory.takeValues(request, scanner.values);
  const value = parse(text);
  if (Array.isArray(value)) {
    if (takesList) return value;
    throw new Refusal("invalid_parameter", { status: 400 });
  }
  if (typeof value !== "object" || value === null) throw new Refusal("invalid_parameter", { status: 400 });
  return withoutNulls(value);
}

/** The gateway does not wait for a body that is slower than this many bytes per second. */
const SLOWEST = 256;

/** Reads the whole body as text, up to the limit. */
export function readText(request: IncomingMessage, settings: ReadSettings): Promise<string> {
  return read(request, settings, () => undefined);
}

/** `check` sees the bytes as they arrive, and throws if the rest is not worth reading. */
function read(
  request: IncomingMessage,
  { bytes: limit, memory }: ReadSettings,
  check: (chunk: Buffer) => void,
): Promise<string> {
  if (Number(request.headers["content-length"] ?? 0) > limit) return Promise.reject(new Refusal("body_too_large"));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      try {
        if (size > limit) throw new Refusal("body_too_large");
        memory.take(request, chunk.length);
        check(chunk);
        chunks.push(chunk);
      } catch (error) {
        finish();
        request.resume();
        reject(error as Error);
      }
    };
    const onEnd = () => {
      finish();
      resolve(Buffer.concat(chunks).toString("utf8"));
    };
    const onGone = () => {
      finish();
      reject(new ClientGone("the client left before its body was complete"));
    };
    const tooSlow = () => {
      finish();
      reject(new AppError("request_timeout"));
    };
    const unwatch = watchPace({ size: () => size, minBytesPerSecond: SLOWEST, tooSlow });
    const finish = () => {
      unwatch();
      request.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
      request.on("error", () => undefined);
    };
    request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
  });
}

/**
 * PostgreSQL stores no NUL in texts, so it is accepted nowhere: escaped (after an even number of backslashes) or raw.
 */
const NUL = /\0|(?<!\\)(?:\\\\)*\\u0000/;

function parse(text: string): unknown {
  if (NUL.test(text)) throw new Refusal("invalid_parameter", { status: 400 });
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Refusal("invalid_parameter", { status: 400, cause });
  }
}

/** `null` counts as absent; the copy has no prototype, so that no inherited name is read as a member. */
function withoutNulls(value: object): Record<string, unknown> {
  const copy = Object.create(null) as Record<string, unknown>;
  for (const [name, member] of Object.entries(value)) {
    if (member !== null && name !== "__proto__") copy[name] = member;
  }
  return copy;
}
