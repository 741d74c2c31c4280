import WebSocket from "ws";
import { AppError } from "../../lib/app-error.ts";
import type { FinishReason } from "../response/sink.ts";

/** Counts the cost of a conversation. */
export interface SessionBill {
  /** One text frame of the upstream. */
  take(frame: string): void;
  /** Called when the balance does not carry another answer. */
  onExhausted: (() => void) | undefined;
  /** Called when a limit does not allow another answer. */
  onLimit: ((refusal: AppError) => void) | undefined;
}

export interface SessionLimits {
  /** Milliseconds without a frame from either side. */
  readonly idleMs: number;
  readonly totalMs: number;
}

export const SESSION_LIMITS: SessionLimits = { idleMs: 10 * 60_000, totalMs: 60 * 60_000 };

const MAX_BUFFERED_BYTES = 1024 * 1024;
const CLOSE_WAIT_MS = 5_000;
const POLICY = 1008;
const INTERNAL = 1011;
const NORMAL = 1000;
const TYPES: Readonly<Record<number, string>> = { 429: "rate_limit_error" };

/** Joins two sockets: frames pass unchanged, in order and no faster than the other side reads. */
export class RealtimeSession {
  readonly #client: WebSocket;
  readonly #upstream: WebSocket;
  readonly #bill: SessionBill;
  readonly #idle: NodeJS.Timeout;
  readonly #total: NodeJS.Timeout;
  #reason: FinishReason | undefined;
  readonly ended: Promise<FinishReason>;

  constructor(client: WebSocket, upstream: WebSocket, bill: SessionBill, limits: SessionLimits) {
    this.#client = client;
    this.#upstream = upstream;
    this.#bill = bill;
    const expire = () => this.#close("stop", NORMAL, "the session is over");
    this.#idle = setTimeout(expire, limits.idleMs).unref();
    this.#total = setTimeout(expire, limits.totalMs).unref();
    bill.onExhausted = () =>
      this.stop(new AppError("insufficient_user_quota", { message: "Your balance is used up." }), "quota_exhausted");
    bill.onLimit = (refusal) => this.stop(refusal, "quota_exhausted");
    this.ended = this.#run();
  }

  /** Ends the conversation from this side; the client gets the reason. */
  stop(error: AppError, reason: FinishReason): void {
    if (this.#reason) return;
    this.#tell(error);
    this.#close(reason, reason === "quota_exhausted" ? POLICY : INTERNAL, error.message);
  }

  #run(): Promise<FinishReason> {
    this.#forward(this.#client, this.#upstream, undefined);
    this.#forward(this.#upstream, this.#client, (frame) => this.#bill.take(frame));
    const closed = Promise.all([this.#closing(this.#client, "client"), this.#closing(this.#upstream, "upstream")]);
    this.#upstream.resume();
    return closed.then(() => {
      clearTimeout(this.#idle);
      clearTimeout(this.#total);
      return this.#reason ?? "stop";
    });
  }

  #forward(from: WebSocket, to: WebSocket, read: ((frame: string) => void) | undefined): void {
    from.on("message", (data: Buffer, isBinary: boolean) => {
      this.#idle.refresh();
      if (read && !isBinary) read(data.toString("utf8"));
      if (to.readyState !== WebSocket.OPEN) return;
      to.send(data, { binary: isBinary }, () => {
        if (from.isPaused && to.bufferedAmount < MAX_BUFFERED_BYTES && from.readyState === WebSocket.OPEN)
          from.resume();
      });
      if (to.bufferedAmount >= MAX_BUFFERED_BYTES) from.pause();
    });
  }

  #closing(socket: WebSocket, side: "client" | "upstream"): Promise<void> {
    return new Promise((resolve) => {
      socket.on("error", () => socket.terminate());
      socket.once("close", (code, why) => {
        this.#sideClosed(side, code, why.toString("utf8"));
        resolve();
      });
      if (socket.readyState === WebSocket.CLOSED) {
        this.#sideClosed(side, 1006, "");
        resolve();
      }
    });
  }

  /** A side that disconnects without a close frame is an interruption for the other one. */
  #sideClosed(side: "client" | "upstream", code: number, why: string): void {
    const isBroken = code === 1006;
    if (side === "client")
      return this.#close(isBroken ? "client_abort" : "stop", isBroken ? NORMAL : passable(code), why);
    if (isBroken && !this.#reason) this.#tell(new AppError("upstream_stream_interrupted"));
    this.#close(isBroken ? "upstream_cut" : "stop", isBroken ? INTERNAL : passable(code), isBroken ? "" : why);
  }

  #close(reason: FinishReason, code: number, why: string): void {
    this.#reason ??= reason;
    for (const socket of [this.#client, this.#upstream]) {
      if (socket.readyState !== WebSocket.OPEN) continue;
      socket.resume();
      socket.close(code, cut(why));
      setTimeout(() => socket.terminate(), CLOSE_WAIT_MS).unref();
    }
  }

  #tell(error: AppError): void {
    if (this.#client.readyState !== WebSocket.OPEN) return;
    const type = TYPES[error.status] ?? (error.status < 500 ? "invalid_request_error" : "server_error");
    this.#client.send(
      JSON.stringify({ type: "error", error: { type, code: error.code, message: error.message, param: null } }),
    );
  }
}

/** Close codes that are forwarded; a close without a code is a normal one. */
function passable(code: number): number {
  if (code === 1005) return NORMAL;
  const isKnown = code >= 1000 && code <= 1014 && code !== 1004 && code !== 1006;
  return isKnown || (code >= 3000 && code <= 4999) ? code : INTERNAL;
}

/** A close frame carries 123 bytes of reason; a longer one is left out. */
function cut(why: string): string {
  return Buffer.byteLength(why) <= 123 ? why : "";
}
