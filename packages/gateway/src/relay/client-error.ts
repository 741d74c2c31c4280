import type { ServerResponse } from "node:http";
import { breaksAfterError, errorAnswer, errorFrame } from "../dialects/errors.ts";
import type { ErrorDialect, StreamForm } from "../dialects/types.ts";
import type { AppError } from "../lib/app-error.ts";

/**
 * Tells the client in its own protocol: a whole answer, or an event when the head of a stream is out. `form` is that
 * of a stream which has had no event yet.
 */
export function sendError(
  response: ServerResponse,
  dialect: ErrorDialect,
  error: AppError,
  { requestId, form }: { readonly requestId: string; readonly form?: StreamForm | undefined },
): void {
  if (response.writableEnded || response.destroyed) return;
  if (response.headersSent) {
    const frame = errorFrame(dialect, error, requestId);
    if (breaksAfterError(dialect)) response.write(form ? form.feed(frame) : frame, () => response.destroy());
    else response.end(frame);
    return;
  }
  const answer = errorAnswer(dialect, error, requestId);
  const body = Buffer.from(answer.body);
  response.writeHead(answer.status, { ...answer.headers, "content-length": body.length });
  response.end(body);
}
