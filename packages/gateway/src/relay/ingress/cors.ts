import type { IncomingMessage, ServerResponse } from "node:http";

const METHODS = "GET, POST, PUT, DELETE, OPTIONS, PATCH";
const LIMITS = ["requests", "tokens", "concurrency"]
  .flatMap((kind) => ["limit", "remaining", "reset"].map((what) => `x-ratelimit-${what}-${kind}`))
  .join(", ");
const EXPOSED = `x-request-id, request-id, retry-after, x-fairway-cache, x-fairway-dropped, x-fairway-model, x-fairway-fallback, age, ${LIMITS}`;

/** Browser clients may call the relay from anywhere; the key authenticates, so no credentials are allowed. */
export function allowAnyOrigin(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers.origin === undefined) return;
  response.setHeader("access-control-allow-origin", "*");
  response.setHeader("access-control-expose-headers", EXPOSED);
}

/** Answers 204 and allows every origin: model calls carry a key, not a cookie. */
export function answerPreflight(request: IncomingMessage, response: ServerResponse): void {
  const asked = request.headers["access-control-request-headers"];
  response.writeHead(204, {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": METHODS,
    ...(asked === undefined || !/^[\w\-, ]{1,4096}$/.test(asked)
      ? undefined
      : { "access-control-allow-headers": asked }),
    "access-control-max-age": "86400",
  });
  response.end();
}
