import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Json } from "./reply.ts";

/** One request as it arrived, byte for byte. */
export interface Recorded {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in the order and spelling of the request. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** The body as JSON; undefined if it is not a JSON object. */
  readonly json: Json | undefined;
  /** The model in the body, the form or the path; "" if there is none. */
  readonly model: string;
  /** Milliseconds of the monotonic clock at the last byte of the request. */
  readonly arrivedAt: number;
  /** How the exchange ended: the answer was complete, or the client disconnected first. */
  readonly ended: Promise<"answered" | "left">;
  /** Set if the client disconnected early; milliseconds of the monotonic clock. */
  readonly leftAt: number | undefined;
}

export async function record(request: IncomingMessage, response: ServerResponse): Promise<Recorded> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const url = new URL(request.url ?? "/", "http://upstream");
  const json = parse(body);
  let leftAt: number | undefined;
  const ended = new Promise<"answered" | "left">((resolve) => {
    response.once("close", () => {
      if (!response.writableFinished) leftAt = performance.now();
      resolve(response.writableFinished ? "answered" : "left");
    });
  });
  return {
    method: request.method ?? "GET",
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    body,
    json,
    model: readModelName(url.pathname, json, body),
    arrivedAt: performance.now(),
    ended,
    get leftAt() {
      return leftAt;
    },
  };
}

/**
 * Reads a field of a multipart form without a parser, which is enough for the short text fields of audio and image
 * calls.
 */
export function formField(body: Buffer, name: string): string | undefined {
  const pattern = new RegExp(`name="${name}"\\r\\n(?:[^\\r\\n]+\\r\\n)*\\r\\n([^\\r\\n]*)\\r\\n`);
  return pattern.exec(body.toString("latin1"))?.[1];
}

function readModelName(path: string, json: Json | undefined, body: Buffer): string {
  if (typeof json?.["model"] === "string") return json["model"];
  const inPath = /\/(?:models|deployments|model|engines)\/([^/:]+)/.exec(path)?.[1];
  return inPath ? decodeURIComponent(inPath) : (formField(body, "model") ?? "");
}

function parse(body: Buffer): Json | undefined {
  if (body[0] !== 0x7b) return undefined;
  try {
    return JSON.parse(body.toString("utf8")) as Json;
  } catch {
    return undefined; // the caller sees the bytes in `body`
  }
}
