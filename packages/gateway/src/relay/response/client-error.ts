import type { ServerResponse } from "node:http";
import { breaksAfterError, errorAnswer, errorFrame, failedStream } from "../../dialects/core/errors.ts";
import type { ErrorDialect, StreamForm } from "../../dialects/core/types.ts";
import type { AppError } from "../../lib/app-error.ts";
import { STREAM_HEADERS } from "./delivery.ts";

const LINGER_MS = 3_000;
const LINGER_BYTES = 32 * 1024 * 1024;

export interface ErrorContext {
  readonly requestId: string;
  readonly form?: StreamForm | undefined;
  readonly streamedModel?: string | undefined;
}

/**
 * Sends the error in the client's protocol: as a whole answer, or as an event after the head of a stream. `form`
 * belongs to a stream without an event so far, `streamedModel` is the model of a streamed call.
 */
export function sendError(
  response: ServerResponse,
  dialect: ErrorDialect,
  error: AppError,
  { requestId, form, streamedModel }: ErrorContext,
): void {
  if (response.writableEnded || response.destroyed) return;
  if (response.headersSent) {
    const frame = errorFrame(dialect, error, requestId);
    if (breaksAfterError(dialect)) response.write(form ? form.feed(frame) : frame, () => response.destroy());
    else response.end(frame);
    return;
  }
  const stream = streamedModel === undefined ? undefined : failedStream(dialect, error, requestId, streamedModel);
  if (stream) {
    response.writeHead(200, STREAM_HEADERS);
    response.end(stream);
    return;
  }
  const answer = errorAnswer(dialect, error, requestId);
  const body = Buffer.from(answer.body);
  response.writeHead(answer.status, { ...answer.headers, "content-length": body.length });
  // A stopping process closes every connection right after this.
  if (response.req.complete || error.code === "server_shutdown") response.end(body);
  else response.write(body, () => endOnceSent(response));
}

/**
 * The client is still sending. Closing now would reset its connection, and most clients would report that instead of
 * the answer, so the rest of the body is discarded for a while.
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
