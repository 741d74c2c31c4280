import { connect, type Socket } from "node:net";

/** One answer as its receiver saw it; times in milliseconds of the monotonic clock. */
export interface Answer {
  readonly status: number;
  readonly firstByteAt: number;
  readonly endedAt: number;
  /** The last bytes of the body: a stream is complete if they contain its end mark. */
  readonly tail: string;
}

type Settle = (answer: Answer | Error) => void;

const HEAD_END = Buffer.from("\r\n\r\n");
const LINE_END = Buffer.from("\r\n");
const TAIL_BYTES = 48;
/**
 * The client stops using a connection this long before the server closes it, so that no request arrives during the
 * close.
 */
const MARGIN_MS = 1_000;

/** A keep-alive HTTP/1.1 connection that sends prepared bytes, so that the load generator itself is not measured. */
export class Connection {
  readonly #socket: Socket;
  #settle: Settle | undefined;
  #rest: Buffer = Buffer.alloc(0);
  #state: "head" | "body" | "size" | "data" | "trailer" = "head";
  #remaining = 0;
  #status = 0;
  #firstByteAt = 0;
  #tail = "";
  #doneAt = 0;
  /** How long the server keeps the connection open without a request. */
  #idleMs = Number.POSITIVE_INFINITY;

  constructor(port: number) {
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true });
    this.#socket.on("data", (bytes: Buffer) => this.#feed(bytes));
    this.#socket.on("error", (error) => this.#finish(error));
    this.#socket.on("close", () => this.#finish(new Error("the connection was closed")));
  }

  get isUsable(): boolean {
    const isOld = this.#doneAt > 0 && performance.now() - this.#doneAt > this.#idleMs - MARGIN_MS;
    return !this.#socket.destroyed && !isOld;
  }

  send(request: Buffer): Promise<Answer | Error> {
    if (!this.isUsable) return Promise.resolve(new Error("the connection is closed"));
    this.#state = "head";
    this.#firstByteAt = 0;
    this.#tail = "";
    return new Promise((resolve) => {
      this.#settle = resolve;
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #finish(answer: Answer | Error): void {
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.(answer);
  }

  #feed(bytes: Buffer): void {
    if (this.#firstByteAt === 0) this.#firstByteAt = performance.now();
    let data = this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : bytes;
    while (data.length > 0) {
      const used = this.#state === "body" || this.#state === "data" ? this.#take(data) : this.#line(data);
      if (used === 0) break;
      data = data.subarray(used);
    }
    this.#rest = data.length > 0 ? Buffer.from(data) : Buffer.alloc(0);
  }

  /** Reads body bytes; returns how many were used. */
  #take(data: Buffer): number {
    const used = Math.min(this.#remaining, data.length);
    this.#remaining -= used;
    this.#tail = (this.#tail + data.toString("latin1", Math.max(0, used - TAIL_BYTES), used)).slice(-TAIL_BYTES);
    if (this.#remaining === 0) {
      if (this.#state === "body") this.#done();
      else this.#state = "size";
    }
    return used;
  }

  #line(data: Buffer): number {
    const mark = this.#state === "head" ? HEAD_END : LINE_END;
    const end = data.indexOf(mark);
    if (end < 0) return 0;
    const text = data.toString("latin1", 0, end);
    if (this.#state === "head") this.#readHead(text);
    else if (this.#state === "trailer") this.#done();
    else this.#readSize(text);
    return end + mark.length;
  }

  #readHead(text: string): void {
    this.#status = Number(text.slice(9, 12));
    const idleSeconds = /\r\nkeep-alive: *timeout=(\d+)/i.exec(text)?.[1];
    if (idleSeconds !== undefined) this.#idleMs = Number(idleSeconds) * 1_000;
    const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
    this.#state = length === undefined ? "size" : "body";
    this.#remaining = Number(length ?? 0);
    if (length === "0") this.#done();
  }

  /** The line break after a chunk is an empty size line. */
  #readSize(text: string): void {
    if (text === "") return;
    this.#remaining = Number.parseInt(text, 16);
    this.#state = this.#remaining === 0 ? "trailer" : "data";
  }

  #done(): void {
    this.#state = "head";
    this.#doneAt = performance.now();
    this.#finish({
      status: this.#status,
      firstByteAt: this.#firstByteAt,
      endedAt: this.#doneAt,
      tail: this.#tail,
    });
  }
}
