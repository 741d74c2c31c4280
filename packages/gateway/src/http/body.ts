import type { IncomingMessage } from "node:http";
import { AppError } from "../lib/app-error.ts";
import { watchPace } from "../lib/async/body-rate.ts";
import { Refusal } from "../lib/refusal.ts";
import { JsonScanner } from "../lib/text/json-scanner.ts";

/** The client went away before its body was complete; there is nobody left to answer. */
export class ClientGone extends Error {}

/** Reads a JSON object (or, where the endpoint takes a list, an array); refuses with G1 (400) or G7. */
export async function readJsonBody(
  request: IncomingMessage,
  { takesList, bytes }: { readonly takesList: boolean; readonly bytes: number },
): Promise<unknown> {
  const text = await readText(request, bytes);
  checkStructure(text, bytes);
  const value = parse(text);
  if (Array.isArray(value)) {
    if (takesList) return value;
    throw new Refusal("G1", { status: 400 });
  }
  if (typeof value !== "object" || value === null) throw new Refusal("G1", { status: 400 });
  return withoutNulls(value);
}

const MAX_DEPTH = 64;
const MAX_VALUES = 1_000_000;

/** Parsing a hostile text would take the memory of the process, so that its structure is checked first. */
function checkStructure(text: string, maxBytes: number): void {
  const scanner = new JsonScanner({ maxDepth: MAX_DEPTH, maxValues: MAX_VALUES, maxBytes });
  if (!scanner.write(Buffer.from(text)) || !scanner.end()) throw new Refusal("G1", { status: 400 });
}

/** Bytes a second below which a body is not waited for. */
const SLOWEST = 256;

/** Reads the whole body as text, up to the limit. */
export function readText(request: IncomingMessage, limit: number): Promise<string> {
  if (Number(request.headers["content-length"] ?? 0) > limit) return Promise.reject(new Refusal("G7"));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) return void chunks.push(chunk);
      finish();
      request.resume();
      reject(new Refusal("G7"));
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

/** PostgreSQL stores no NUL in texts, so that none is taken anywhere: escaped (after an even number of backslashes) or raw. */
const NUL = /\0|(?<!\\)(?:\\\\)*\\u0000/;

function parse(text: string): unknown {
  if (NUL.test(text)) throw new Refusal("G1", { status: 400 });
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Refusal("G1", { status: 400, cause });
  }
}

/** `null` counts as absent; the copy has no prototype, so that no inherited name reads as a member. */
function withoutNulls(value: object): Record<string, unknown> {
  const copy = Object.create(null) as Record<string, unknown>;
  for (const [name, member] of Object.entries(value)) {
    if (member !== null && name !== "__proto__") copy[name] = member;
  }
  return copy;
}
