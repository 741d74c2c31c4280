import type { ServerResponse } from "node:http";

/** Server-sent events as one response of the management API. */
export interface EventStream {
  send(event: string, data: unknown): void;
  end(): void;
  /** Aborted when the client leaves or the stream ends. */
  readonly closed: AbortSignal;
}

const HEARTBEAT_MS = 15_000;
/** A reader that falls this far behind is cut off, so that its events do not fill the memory; it can reconnect. */
const BEHIND_BYTES = 1024 * 1024;

/** Opens a stream of server-sent events with keep-alives. A client that reads too slowly is cut off. */
export function openEventStream(response: ServerResponse): EventStream {
  const controller = new AbortController();
  response.writeHead(200, {
    "Content-Type": "text/event-stream; charset=utf-8",
    "X-Accel-Buffering": "no",
    Connection: "keep-alive",
  });
  response.write(": open\n\n");
  const heartbeat = setInterval(() => write(": still here\n\n"), HEARTBEAT_MS);
  const close = () => {
    clearInterval(heartbeat);
    controller.abort();
  };
  response.on("close", close).on("error", close);

  function write(text: string): void {
    if (controller.signal.aborted) return;
    response.write(text);
    if (response.writableLength > BEHIND_BYTES) response.destroy();
  }

  return {
    closed: controller.signal,
    send: (event, data) => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
    end() {
      close();
      response.end();
    },
  };
}

/** Waits for the given time; resolves at once if the signal is aborted. */
export function pauseUnless(signal: AbortSignal, ms: number): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}
