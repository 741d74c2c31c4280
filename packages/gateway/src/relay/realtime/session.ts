import WebSocket from "ws";
import { AppError } from "../../lib/app-error.ts";
import type { FinishReason } from "../upstream/attempt-result.ts";
import { FramePipe, type FrameVerdict } from "./frame-pipe.ts";

/** Whether a frame passes. */
export type Verdict = FrameVerdict | Refused | Promise<boolean | Refused>;

/** A refusal that the client gets in place of the frame. */
export interface Refused {
  readonly refusal: AppError;
  /** The client's id of its event. */
  readonly eventId: string | undefined;
  /** The answer that the upstream has begun and has to end. */
  readonly responseId?: string;
}

/** Counts the cost of a conversation. */
export interface SessionBill {
  /** Takes one text frame of the client. */
  send(frame: Buffer): Verdict;
  /** Takes one text frame of the upstream. */
  take(frame: Buffer): Verdict;
  /** True if the upstream has yet to report the cost of something. */
  readonly isOpen: boolean;
  /** Ids of the answers that it has not finished, if they have one yet. */
  readonly openResponses: readonly (string | undefined)[];
  /** Called when the session is over for its client. */
  over(): void;
  /** Called when the balance does not cover another answer. */
  onExhausted: (() => void) | undefined;
  /** Called when a limit does not allow another answer. */
  onLimit: ((refusal: AppError) => void) | undefined;
}

export interface SessionLimits {
  /** Milliseconds without a frame from either side. */
  readonly idleMs: number;
  readonly totalMs: number;
  /** How long to wait for the upstream if the session ends during an answer, in milliseconds. */
  readonly lingerMs: number;
  /** Time between pings of the client. */
  readonly pingMs: number;
  /** A client that answers no ping for this many milliseconds is disconnected. */
  readonly deadMs: number;
}

export const SESSION_LIMITS = { totalMs: 60 * 60_000, pingMs: 25_000, deadMs: 60_000 } as const;

/** A client that sends faster is read more slowly; sound comes in fifty events per second. */
const MAX_EVENTS_PER_SECOND = 1_000;

const CLOSE_WAIT_MS = 5_000;
/** Shorter, because a stopping process has other things to finish. */
const LINGER_AT_SHUTDOWN_MS = 1_000;
const POLICY = 1008;
const INTERNAL = 1011;
const NORMAL = 1000;
const TYPES: Readonly<Record<number, string>> = { 429: "rate_limit_error" };

/** Joins two sockets: frames pass unchanged, in order and no faster than the other side reads. */
export class RealtimeSession {
  readonly #client: WebSocket;
  readonly #upstream: WebSocket;
  readonly #bill: SessionBill;
  readonly #limits: SessionLimits;
  readonly #idle: NodeJS.Timeout;
  readonly #total: NodeJS.Timeout;
  readonly #ping: NodeJS.Timeout;
  readonly #dead: NodeJS.Timeout;
  #reason: FinishReason | undefined;
  #lingering: NodeJS.Timeout | undefined;
  readonly ended: Promise<FinishReason>;

  constructor(client: WebSocket, upstream: WebSocket, bill: SessionBill, limits: SessionLimits) {
    this.#client = client;
    this.#upstream = upstream;
    this.#bill = bill;
    this.#limits = limits;
    const expire = () => this.#close("stop", NORMAL, "the session is over");
    this.#idle = setTimeout(expire, limits.idleMs).unref();
    this.#total = setTimeout(expire, limits.totalMs).unref();
    this.#ping = setInterval(() => client.ping(), limits.pingMs).unref();
    this.#dead = setTimeout(() => client.terminate(), limits.deadMs).unref();
    client.on("pong", () => this.#dead.refresh());
    bill.onExhausted = () => this.stop(new AppError("insufficient_quota"), "quota_exhausted");
    bill.onLimit = (refusal) => this.stop(refusal, "quota_exhausted");
    this.ended = this.#run();
  }

  /** Ends the conversation from the gateway's side; the client gets the reason. */
  stop(error: AppError, reason: FinishReason): void {
    if (this.#reason) return;
    this.#tell(error);
    this.#close(reason, reason === "quota_exhausted" ? POLICY : INTERNAL, error.message);
  }

  #run(): Promise<FinishReason> {
    const send = (data: Buffer, isBinary: boolean): FrameVerdict => {
      this.#idle.refresh();
      this.#dead.refresh();
      if (this.#reason) return false;
      return isBinary || this.#judged(this.#bill.send(data));
    };
    new FramePipe(this.#client, this.#upstream, send, MAX_EVENTS_PER_SECOND);
    new FramePipe(this.#upstream, this.#client, (data, isBinary) => {
      this.#idle.refresh();
      const verdict = isBinary || this.#judged(this.#bill.take(data));
      if (!this.#reason) return verdict;
      this.#lingered();
      return false;
    });
    const closed = Promise.all([this.#closing(this.#client, "client"), this.#closing(this.#upstream, "upstream")]);
    this.#upstream.resume();
    return closed.then(() => {
      for (const timer of [this.#idle, this.#total, this.#ping, this.#dead, this.#lingering]) clearTimeout(timer);
      return this.#reason ?? "stop";
    });
  }

  #judged(verdict: Verdict): FrameVerdict {
    if (verdict instanceof Promise)
      return verdict.then((later) => (typeof later === "boolean" ? later && !this.#reason : this.#refused(later)));
    return typeof verdict === "boolean" || !("refusal" in verdict) ? verdict : this.#refused(verdict);
  }

  #refused({ refusal, eventId, responseId }: Refused): false {
    this.#tell(refusal, eventId);
    if (responseId !== undefined) this.#cancel([responseId]);
    return false;
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

  /** If one side disconnects without a close frame, the other one sees an interruption. */
  #sideClosed(side: "client" | "upstream", code: number, why: string): void {
    const isBroken = code === 1006;
    if (side === "client")
      return this.#close(isBroken ? "client_abort" : "stop", isBroken ? NORMAL : passable(code), why);
    if (isBroken && !this.#reason) this.#tell(new AppError("upstream_stream_interrupted"));
    this.#close(isBroken ? "upstream_cut" : "stop", isBroken ? INTERNAL : passable(code), isBroken ? "" : why);
  }

  #close(reason: FinishReason, code: number, why: string): void {
    const isFirst = this.#reason === undefined;
    if (isFirst) this.#bill.over();
    this.#reason ??= reason;
    end(this.#client, code, why);
    if (this.#lingering) return;
    const { lingerMs } = this.#limits;
    const isWaiting = isFirst && this.#bill.isOpen && lingerMs > 0 && this.#upstream.readyState === WebSocket.OPEN;
    if (!isWaiting) return end(this.#upstream, code, why);
    this.#cancel(this.#bill.openResponses);
    const waitMs = reason === "server_shutdown" ? Math.min(lingerMs, LINGER_AT_SHUTDOWN_MS) : lingerMs;
    this.#lingering = setTimeout(() => end(this.#upstream, NORMAL, ""), waitMs);
    this.#upstream.resume();
  }

  /** Cancels answers, since the client no longer hears them; the upstream reports what they cost. */
  #cancel(open: readonly (string | undefined)[]): void {
    for (const id of open)
      this.#upstream.send(JSON.stringify({ type: "response.cancel", ...(id ? { response_id: id } : {}) }));
  }

  /** Once the upstream has reported everything, there is nothing left to wait for. */
  #lingered(): void {
    if (this.#lingering && !this.#bill.isOpen) end(this.#upstream, NORMAL, "");
  }

  #tell(error: AppError, eventId?: string): void {
    if (this.#client.readyState !== WebSocket.OPEN) return;
    const type = TYPES[error.status] ?? (error.status < 500 ? "invalid_request_error" : "server_error");
    const detail = { type, code: error.code, message: error.message, param: error.param ?? null, event_id: eventId };
    this.#client.send(JSON.stringify({ type: "error", error: detail }));
  }
}

function end(socket: WebSocket, code: number, why: string): void {
  if (socket.readyState !== WebSocket.OPEN) return;
  socket.resume();
  socket.close(code, cut(why));
  setTimeout(() => socket.terminate(), CLOSE_WAIT_MS).unref();
}

/** Returns the close code to forward; a close without a code is a normal one. */
function passable(code: number): number {
  if (code === 1005) return NORMAL;
  const isKnown = code >= 1000 && code <= 1014 && code !== 1004 && code !== 1006;
  return isKnown || (code >= 3000 && code <= 4999) ? code : INTERNAL;
}

/** A close frame carries 123 bytes of reason; a longer one is omitted. */
function cut(why: string): string {
  return Buffer.byteLength(why) <= 123 ? why : "";
}
