import WebSocket from "ws";
import type { SocketOptions } from "./upstream.ts";
import type { UpstreamAnswer, UpstreamCall, UpstreamSocket } from "../../providers/core/types.ts";

const MAX_FRAME_BYTES = 16 * 1024 * 1024;

/** Opens a text WebSocket to an upstream; a refused upgrade resolves with the upstream's answer. */
export function openSocket(
  call: UpstreamCall,
  options: SocketOptions,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<UpstreamSocket | UpstreamAnswer> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(call.url, {
      ...options,
      headers: call.headers,
      handshakeTimeout: timeoutMs,
      maxPayload: MAX_FRAME_BYTES,
      perMessageDeflate: false,
      followRedirects: false,
    });
    const onAbort = () => socket.terminate();
    signal.addEventListener("abort", onAbort, { once: true });
    socket.once("close", () => signal.removeEventListener("abort", onAbort));
    const received = iterateMessages(socket);
    socket.once("open", () => resolve({ send: (text) => socket.send(text), received, close: () => socket.close() }));
    socket.once("unexpected-response", (_request, response) => {
      const headers = Object.fromEntries(
        Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
      );
      resolve({ status: response.statusCode ?? 502, headers, body: response });
    });
    socket.on("error", reject);
  });
}

/** Returns frames in order; ends when the other side closes and throws when the connection breaks. */
function iterateMessages(socket: WebSocket): AsyncIterable<string> {
  const waiting: string[] = [];
  let wake: (() => void) | undefined;
  let isClosed = false;
  let failure: Error | undefined;
  const signal = () => {
    wake?.();
    wake = undefined;
  };
  socket.on("message", (data: Buffer) => {
    waiting.push(data.toString("utf8"));
    signal();
  });
  socket.on("close", () => {
    isClosed = true;
    signal();
  });
  socket.on("error", (error) => {
    failure = error;
    signal();
  });
  return {
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const next = waiting.shift();
        if (next !== undefined) yield next;
        else if (failure) throw failure;
        else if (isClosed) return;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    },
  };
}
