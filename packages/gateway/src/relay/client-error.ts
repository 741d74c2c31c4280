import type { ServerResponse } from "node:http";
import { errorAnswer, errorFrame } from "../dialects/errors.ts";
import type { ErrorDialect } from "../dialects/types.ts";
import type { AppError } from "../lib/app-error.ts";

/** Tells the client in its own protocol: a whole answer, or an event when the head of a stream is out. */
export function sendError(response: ServerResponse, dialect: ErrorDialect, error: AppError, requestId: string): void {
  if (response.writableEnded || response.destroyed) return;
  if (response.headersSent) {
    response.end(errorFrame(dialect, error, requestId));
    return;
  }
  const answer = errorAnswer(dialect, error, requestId);
  const body = Buffer.from(answer.body);
  response.writeHead(answer.status, { ...answer.headers, "content-length": body.length });
  response.end(body);
}
