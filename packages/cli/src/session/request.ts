import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from "node:http";

export interface AnswerHead {
  readonly status: number;
  readonly headers: AnswerHeaders;
}

/** An answer whose body is read as it arrives. */
export interface Answer extends AnswerHead {
  readonly body: AsyncIterable<Uint8Array>;
  text(): Promise<string>;
}

export interface AnswerHeaders {
  get(name: string): string | null;
  getSetCookie(): readonly string[];
  /** All headers, with lower-case names. */
  all(): readonly (readonly [string, string])[];
}

/** A body that is read while it is sent. */
export interface RequestStream {
  /** Bytes of all pieces. */
  readonly size: number;
  readonly pieces: AsyncIterable<Uint8Array>;
}

export interface Request {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Sent instead of `body`, piece by piece. */
  readonly stream?: RequestStream;
  readonly signal: AbortSignal;
}

/** Works like `fetch` without redirects; `fetch` itself takes a third of a short command to load. */
export async function request(url: string, { method, headers, body, stream, signal }: Request): Promise<Answer> {
  // An import of node:http also loads its WebSocket part, which takes a tenth of a short command.
  const { request: open } = process.getBuiltinModule(url.startsWith("https:") ? "node:https" : "node:http");
  const bytes = stream ? stream.size : body === undefined ? undefined : Buffer.byteLength(body);
  const size = bytes === undefined ? {} : { "content-length": String(bytes) };
  signal.throwIfAborted();
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = open(url, { method, headers: { "accept-encoding": "gzip", ...headers, ...size } });
    // As an option, the signal would also end the socket while another request uses it.
    let running: IncomingMessage | typeof sent = sent;
    const stop = () => void running.destroy(signal.reason as Error);
    signal.addEventListener("abort", stop, { once: true });
    sent.on("error", reject).once("response", (head) => {
      running = head;
      head.once("close", () => signal.removeEventListener("abort", stop));
      resolve(head);
    });
    if (stream) sendPieces(stream, sent, reject);
    else sent.end(body);
  });
  const content = await unpacked(answer);
  return {
    status: answer.statusCode ?? 0,
    headers: toAnswerHeaders(answer.headers),
    body: content,
    async text() {
      const parts: Uint8Array[] = [];
      for await (const part of content) parts.push(part);
      return Buffer.concat(parts).toString("utf8");
    },
  };
}

/** The gateway may answer before it has read everything; then the answer counts, not the connection that it ended. */
function sendPieces({ pieces }: RequestStream, sent: ClientRequest, reject: (error: unknown) => void): void {
  void import("node:stream/promises").then(({ pipeline }) => pipeline(pieces, sent).catch(reject));
}

async function unpacked(answer: IncomingMessage): Promise<AsyncIterable<Uint8Array>> {
  if (answer.headers["content-encoding"] !== "gzip") return answer;
  const [{ createGunzip }, { pipeline }] = await Promise.all([import("node:zlib"), import("node:stream")]);
  // The reader of the body gets the connection error.
  return pipeline(answer, createGunzip(), () => undefined);
}

function toAnswerHeaders(headers: IncomingHttpHeaders): AnswerHeaders {
  return {
    get(name) {
      const value = headers[name.toLowerCase()];
      return value === undefined ? null : String(value);
    },
    getSetCookie: () => headers["set-cookie"] ?? [],
    all: () => Object.entries(headers).map(([name, value]) => [name, String(value)]),
  };
}
