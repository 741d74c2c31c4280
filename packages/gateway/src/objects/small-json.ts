import type { IncomingMessage } from "node:http";
import type { JsonObject } from "../dialects/core/types.ts";
import { AppError } from "../lib/app-error.ts";
import { parseObject } from "../lib/text/json.ts";
import { IDLE_MS } from "./object-call.ts";
import { readChunks } from "./read-chunks.ts";

const MAX_BYTES = 64 * 1024;

/** Reads a small body of JSON; an empty one is an object without members. */
export async function readSmallJson(request: IncomingMessage): Promise<JsonObject> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of readChunks(request, IDLE_MS)) {
    parts.push(chunk);
    size += chunk.length;
    if (size > MAX_BYTES) throw new AppError("request_too_large", { values: { limit: MAX_BYTES } });
  }
  if (size === 0) return {};
  const body = parseObject(Buffer.concat(parts).toString("utf8"));
  if (!body) throw new AppError("invalid_json", { values: { position: "the body must be a JSON object" } });
  return body as JsonObject;
}
