import type { IncomingMessage } from "node:http";
import { AppError } from "../lib/app-error.ts";

/**
 * Reads a body with back-pressure, so that an upload is as fast as its slower side. Rejects with `request_timeout` if
 * the client sends nothing for `idleMs` while it is being read, and with `client_closed_request` if it leaves. The
 * connection stays open for the answer.
 */
export async function* readChunks(request: IncomingMessage, idleMs: number): AsyncGenerator<Buffer> {
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
  try {
    for (let next = await withinIdle(chunks.next(), idleMs); next.done !== true;) {
      yield next.value;
      next = await withinIdle(chunks.next(), idleMs);
    }
  } finally {
    // Not awaited: a read that is still waiting would end only with the connection.
    chunks.return?.().catch(() => undefined);
  }
}

function withinIdle<T>(next: Promise<T>, idleMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new AppError("request_timeout")), idleMs);
    next.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (cause: unknown) => {
        clearTimeout(timer);
        reject(new AppError("client_closed_request", { cause }));
      },
    );
  });
}
