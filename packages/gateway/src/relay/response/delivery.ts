import type { ServerResponse } from "node:http";
import type { StreamForm } from "../../dialects/core/types.ts";
import type { AppError } from "../../lib/app-error.ts";
import { UnorderedSet, type Member } from "../../lib/unordered-set.ts";

/** Head of every streamed answer; without it proxies buffer and compress. */
export const STREAM_HEADERS: Record<string, string> = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

/** Judges an answer before it is charged and before its end leaves; an error means that it must not leave. */
export interface AnswerJudge {
  /** Judges the end of a stream; `last` are whole events that were not written yet. */
  stream(last: Buffer | undefined): Promise<AppError | undefined>;
  judgeAnswer(text: string): Promise<AppError | undefined>;
}

/**
 * The client's side of one request: head, back-pressure, heartbeats, and the moment the client leaves.
 * One ticker serves all open deliveries, so a chunk costs no timer.
 */
export class Delivery implements Member {
  place: number | undefined;
  readonly response: ServerResponse;
  readonly #ticker: DeliveryTicker;
  #isDisconnected = false;
  #isTicking = false;
  #onDisconnect: (() => void) | undefined;
  #onDrain: (() => void) | undefined;
  /** Ticks of the last write and of the start of the present back-pressure; compared by the ticker. */
  lastWriteTick = 0;
  blockedSinceTick = 0;
  /** The next keep-alive of a stream; undefined for whole answers. */
  keepAlive: (() => Buffer) | undefined;
  /** Head that the first heartbeat or the first content sends. */
  streamHead: Record<string, string> | undefined;
  /** Rewrites the events of a stream; undefined = they are sent unchanged. */
  form: StreamForm | undefined;

  constructor(response: ServerResponse, ticker: DeliveryTicker) {
    this.response = response;
    this.#ticker = ticker;
    response.on("close", () => this.#closed());
    if (response.destroyed || response.closed) this.#isDisconnected = true;
  }

  /** True if the client left before the answer ended. */
  get isDisconnected(): boolean {
    return this.#isDisconnected;
  }

  /** Undefined if answers are not judged. */
  get judge(): AnswerJudge | undefined {
    return undefined;
  }

  /** Calls back when the client may learn about the answer: at once if answers are not judged. */
  whenAllowed(run: () => void): void {
    run();
  }

  get isHeadSent(): boolean {
    return this.response.headersSent;
  }

  /** Called at most once, when the client leaves early; replaces an earlier listener. */
  set onDisconnect(listener: (() => void) | undefined) {
    this.#onDisconnect = listener;
    if (this.#isDisconnected && listener) listener();
  }

  /**
   * The answer is a stream and gets keep-alives from now on, whatever its protocol. `form` writes the stream if it has
   * a form of its own, `heartbeat` replaces the comment.
   */
  startStream(form: StreamForm | undefined, heartbeat: Buffer = COMMENT): void {
    this.form = form;
    this.streamHead = form ? { ...STREAM_HEADERS, "content-type": form.contentType } : STREAM_HEADERS;
    this.keepAlive = form ? () => form.beat() : () => heartbeat;
    this.watch();
  }

  /** Registers for heartbeats and for the check for clients that stop reading. */
  watch(): void {
    if (this.#isTicking) return;
    this.#isTicking = true;
    this.#ticker.add(this);
    this.lastWriteTick = this.#ticker.now;
  }

  sendStreamHead(): void {
    this.sendHead(this.streamHead ?? {});
  }

  /** Sends status 200 with these headers, unless a head was sent already. */
  sendHead(headers: Record<string, string>): void {
    if (!this.response.headersSent && !this.#isDisconnected) this.response.writeHead(200, headers);
  }

  /** Returns false if the client does not keep up; `onDrain` is then called once. */
  write(bytes: Buffer, onDrain: () => void): boolean {
    if (this.#isDisconnected || this.response.writableEnded) return true;
    this.lastWriteTick = this.#ticker.now;
    if (this.response.write(this.form ? this.form.feed(bytes) : bytes)) return true;
    this.watch();
    this.blockedSinceTick = this.#ticker.now;
    if (this.#onDrain === undefined) this.response.once("drain", () => this.#drained());
    this.#onDrain = onDrain;
    return false;
  }

  end(bytes?: Buffer): void {
    this.#stopTicking();
    if (this.#isDisconnected || this.response.writableEnded) return;
    if (this.form) this.response.end(Buffer.concat([this.form.feed(bytes ?? NOTHING), this.form.end()]));
    else if (bytes) this.response.end(bytes);
    else this.response.end();
    this.#expectRead();
  }

  /**
   * Sends a small answer as a string of its bytes: it leaves in one piece with its head, which takes a tenth less time.
   */
  endWhole(bytes: Buffer): void {
    if (this.form || bytes.length > ONE_PIECE) return this.end(bytes);
    this.#stopTicking();
    if (this.#isDisconnected || this.response.writableEnded) return;
    this.response.end(bytes.toString("latin1"), "latin1");
    this.#expectRead();
  }

  /** Sends the last event of a stream that failed, then breaks the connection. */
  breakOff(frame: Buffer): void {
    this.#stopTicking();
    if (this.#isDisconnected || this.response.writableEnded) return;
    this.response.write(this.form ? this.form.feed(frame) : frame, () => this.response.destroy());
    this.#expectRead();
  }

  /** Cuts the connection, for protocols that have no other sign of a failure. */
  destroy(): void {
    this.#stopTicking();
    this.response.destroy();
  }

  /** Sends a keep-alive between two events; also commits the head of a stream. */
  beat(): void {
    // An error that other code sent may wait for an earlier answer on the same connection.
    if (this.#isDisconnected || !this.keepAlive || this.#onDrain || this.response.writableEnded) return;
    this.sendStreamHead();
    this.lastWriteTick = this.#ticker.now;
    this.response.write(this.keepAlive());
  }

  get isBlocked(): boolean {
    return this.#onDrain !== undefined;
  }

  /** Bytes that the socket does not accept at once stay in memory, so a client that reads none of them is cut off. */
  #expectRead(): void {
    if (this.response.writableLength > 0) this.response.setTimeout(this.#ticker.stuckMs);
  }

  #drained(): void {
    const resume = this.#onDrain;
    this.#onDrain = undefined;
    this.blockedSinceTick = 0;
    resume?.();
  }

  #closed(): void {
    this.#stopTicking();
    if (this.response.writableFinished) return;
    this.#isDisconnected = true;
    this.#onDisconnect?.();
  }

  #stopTicking(): void {
    if (!this.#isTicking) return;
    this.#isTicking = false;
    this.#ticker.remove(this);
  }
}

export interface TickerSettings {
  /** Silence before a heartbeat; 0 = none. */
  readonly heartbeatMs: number;
  /** A client that reads nothing for this long is cut off. */
  readonly stuckMs: number;
}

/** One interval for all open deliveries. */
export class DeliveryTicker {
  readonly #settings: TickerSettings;
  readonly #open = new UnorderedSet<Delivery>();
  #timer: NodeJS.Timeout | undefined;
  /** Milliseconds of the monotonic clock at the last tick, accurate to 250 ms. */
  now = performance.now();

  constructor(settings: TickerSettings) {
    this.#settings = settings;
  }

  get stuckMs(): number {
    return this.#settings.stuckMs;
  }

  add(delivery: Delivery): void {
    this.#open.add(delivery);
    if (this.#timer) return;
    this.now = performance.now();
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
  }

  remove(delivery: Delivery): void {
    this.#open.delete(delivery);
  }

  get size(): number {
    return this.#open.size;
  }

  #tick(): void {
    this.now = performance.now();
    const { heartbeatMs, stuckMs } = this.#settings;
    for (const delivery of this.#open.all()) {
      if (delivery.isBlocked) {
        if (this.now - delivery.blockedSinceTick > stuckMs) delivery.destroy();
      } else if (heartbeatMs > 0 && this.now - delivery.lastWriteTick >= heartbeatMs) delivery.beat();
    }
    if (this.#open.size === 0 && this.#timer) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }
}

const TICK_MS = 250;
const ONE_PIECE = 8 * 1024;
const NOTHING = Buffer.alloc(0);
/** A comment, which readers of server-sent events ignore. */
const COMMENT = Buffer.from(": ping\n\n");
