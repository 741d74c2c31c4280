import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, gzip } from "node:zlib";

/** Shorter answers cost more to compress than to send. */
const GZIP_FROM_BYTES = 1400;

/** Writes a JSON answer, compressed if the client accepts gzip; resolves when it is passed to the socket. */
export async function sendJson(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  body: unknown,
): Promise<void> {
  response.statusCode = status;
  response.setHeader("Content-Type", "application/json; charset=utf-8");
  await sendBytes(request, response, Buffer.from(JSON.stringify(body)));
}

/** Writes a plain-text answer. */
export async function sendText(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  text: string,
): Promise<void> {
  response.statusCode = status;
  response.setHeader("Content-Type", "text/plain; charset=utf-8");
  await sendBytes(request, response, Buffer.from(text));
}

async function sendBytes(request: IncomingMessage, response: ServerResponse, bytes: Buffer): Promise<void> {
  response.setHeader("Vary", "Accept-Encoding");
  const isCompressed = bytes.length >= GZIP_FROM_BYTES && acceptsEncoding(request, "gzip");
  const payload = isCompressed ? await gzipFast(bytes) : bytes;
  if (response.destroyed) return;
  if (isCompressed) response.setHeader("Content-Encoding", "gzip");
  response.setHeader("Content-Length", payload.length);
  response.end(payload);
}

/** True if the client lists the coding and does not refuse it with `q=0`. */
export function acceptsEncoding(request: IncomingMessage, coding: string): boolean {
  return String(request.headers["accept-encoding"] ?? "")
    .toLowerCase()
    .split(",")
    .some((part) => {
      const [name, ...parameters] = part.split(";").map((piece) => piece.trim());
      return name === coding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
    });
}

function gzipFast(bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    gzip(bytes, { level: constants.Z_BEST_SPEED }, (error, packed) => (error ? reject(error) : resolve(packed)));
  });
}
