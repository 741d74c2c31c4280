import type { ServerResponse } from "node:http";
import { breaksAfterError, errorAnswer, errorFrame } from "../../dialects/core/errors.ts";
import type { ErrorDialect, StreamForm } from "../../dialects/core/types.ts";
import type { AppError } from "../../lib/app-error.ts";

const LINGER_MS = 3_000;
const LINGER_BYTES = 32 * 1024 * 1024;

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
  // A process that stops closes every connection right after this.
  if (response.req.complete || error.code === "server_shutdown") response.end(body);
  else response.write(body, () => endOnceSent(response));
}

/**
 * The client is still sending. Closing now would reset its connection, and most clients would report that instead of
 * the answer: what comes is thrown away for a while.
 */
function endOnceSent(response: ServerResponse): void {
  const { req: request } = response;
  let size = 0;
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MS).unref();
  request.once("end", end).once("close", end);
  request.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > LINGER_BYTES) end();
  });
  request.resume();
}
