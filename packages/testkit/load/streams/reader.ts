import { connect } from "node:net";
import { END_MARKS, buildRequest, type LoadRequest } from "../requests.ts";

/** One stream as its client sees it, chunk by chunk. */
export interface StreamReader {
  /** Events that have arrived so far. */
  readonly events: number;
  /** Rejects if the stream breaks off or is not a good one. */
  readonly ended: Promise<void>;
}

const EVENT = Buffer.from("\n\n");
const TAIL = 64;

/** `onData` gets the raw bytes of the socket, including heads and chunk sizes. */
export function readStream(asked: LoadRequest, onData: (bytes: Buffer) => void = () => {}): StreamReader {
  const reader = { events: 0 };
  const socket = connect({ port: asked.port, host: "127.0.0.1", noDelay: true });
  let tail = "";
  const ended = new Promise<void>((resolve, reject) => {
    socket.on("data", (bytes: Buffer) => {
      onData(bytes);
      for (let at = bytes.indexOf(EVENT); at >= 0; at = bytes.indexOf(EVENT, at + 2)) reader.events++;
      tail = (tail + bytes.toString("latin1", Math.max(0, bytes.length - TAIL))).slice(-TAIL);
      if (tail.endsWith("0\r\n\r\n")) socket.end();
    });
    socket.on("error", reject);
    socket.on("close", () => {
      if (tail.includes(END_MARKS[asked.client ?? "chat"])) resolve();
      else reject(new Error(`a stream without its end: ${tail}`));
    });
  });
  socket.write(buildRequest(asked));
  return {
    get events() {
      return reader.events;
    },
    ended,
  };
}
