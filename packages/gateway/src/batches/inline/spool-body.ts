import type { IncomingMessage } from "node:http";
import { createHash } from "node:crypto";
import { AppError, invalidRequest } from "../../lib/app-error.ts";
import { watchPace } from "../../lib/async/body-rate.ts";
import { JsonElements, type ElementsFault } from "../../lib/text/json-elements.ts";
import { parseObject } from "../../lib/text/json.ts";
import type { JsonObject } from "../../dialects/core/types.ts";
import type { InlineBody } from "./inline-body.ts";
import { repeatedMember } from "../../lib/text/json-members.ts";
import { findJsonFault } from "../../lib/text/json-scanner.ts";
import { createSpool } from "../../relay/body/spool.ts";

export interface InlineLimits {
  readonly maxItems: number;
  readonly maxBytes: number;
  readonly minBytesPerSecond: number;
  readonly hasTwoSpellings?: boolean;
}

/** No vendor takes a larger request. */
const MAX_ITEM_BYTES = 32 * 1024 * 1024;
const MAX_FRAME_BYTES = 4 * 1024 * 1024;

/**
 * Writes the body of an inline batch to disk while its items are found. Rejects with AppError and leaves nothing
 * behind; otherwise the caller disposes of the spool.
 */
export async function spoolInlineBody(
  request: IncomingMessage,
  path: readonly string[],
  limits: InlineLimits,
): Promise<InlineBody> {
  checkHead(request, limits);
  const spool = createSpool();
  const elements = new JsonElements(path, {
    maxElements: limits.maxItems,
    maxElementBytes: MAX_ITEM_BYTES,
    maxFrameBytes: MAX_FRAME_BYTES,
    ...(limits.hasTwoSpellings === true && { hasTwoSpellings: true }),
  });
  const hash = createHash("sha256");
  try {
    await receive(request, limits, (chunk) => {
      if (spool.size + chunk.length > limits.maxBytes) throw tooLarge(limits.maxBytes);
      if (!elements.write(chunk)) throw refusal(elements.fault, path, limits);
      hash.update(chunk);
      return spool.write(chunk);
    });
    if (!elements.end()) throw refusal(elements.fault, path, limits);
    const { starts, ends, isFound, frame: frameBytes } = elements;
    const frame = readFrame(frameBytes);
    return { spool, starts, ends, isFound, frame, frameBytes, hash: hash.digest("hex") };
  } catch (error) {
    await spool.dispose();
    throw error;
  }
}

function checkHead({ headers }: IncomingMessage, { maxBytes }: InlineLimits): void {
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding.trim().toLowerCase() !== "identity")
    throw new AppError("unsupported_encoding", { values: { encoding } });
  if (Number(headers["content-length"] ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

function receive(
  request: IncomingMessage,
  { minBytesPerSecond }: InlineLimits,
  take: (chunk: Buffer) => Promise<void> | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let size = 0;
    const settle = (finish: () => void) => {
      unwatch();
      request.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
      request.pause();
      finish();
    };
    const fail = (error: unknown) => settle(() => reject(AppError.from(error)));
    const unwatch = watchPace({
      size: () => size,
      minBytesPerSecond,
      tooSlow: () => fail(new AppError("request_timeout")),
    });
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      try {
        const written = take(chunk);
        if (!written) return;
        request.pause();
        written.then(() => request.resume(), fail);
      } catch (error) {
        fail(error);
      }
    };
    const onEnd = () => settle(resolve);
    const onGone = () => fail(new AppError("client_closed_request"));
    request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
  });
}

function readFrame(bytes: Buffer): JsonObject {
  if (findJsonFault(bytes)) throw invalidJson();
  const frame = parseObject(bytes.toString("utf8"));
  if (!frame) throw invalidJson();
  const repeated = repeatedMember(bytes, () => true);
  if (repeated !== undefined) throw invalidRequest(repeated, `${repeated} is in the body twice; send it once.`);
  return frame;
}

/** Throws for a body without items. */
export function requireItems({ isFound, starts }: InlineBody, path: readonly string[]): void {
  const list = path.join(".");
  if (!isFound) throw invalidRequest(list, `${list}: it must be a list.`);
  if (starts.length === 0) throw invalidRequest(list, `${list}: it must have at least one item.`);
}

function refusal(fault: ElementsFault | undefined, path: readonly string[], limits: InlineLimits): AppError {
  const list = path.join(".");
  switch (fault) {
    case "too-many-elements":
      return invalidRequest(list, `${list}: a batch may have up to ${limits.maxItems} items.`);
    case "element-too-large":
      return new AppError("batch_line_too_large", {
        message: `A request of the batch exceeds ${MAX_ITEM_BYTES} bytes.`,
      });
    case "frame-too-large":
      return tooLarge(MAX_FRAME_BYTES);
    case "repeated":
      return invalidRequest(list, `${list} is in the body twice; send it once.`);
    default:
      return invalidJson();
  }
}

function invalidJson(): AppError {
  return new AppError("invalid_json", { values: { position: "unexpected text or end" } });
}

function tooLarge(limit: number): AppError {
  return new AppError("request_too_large", { values: { limit } });
}
