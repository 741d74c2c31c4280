import WebSocket from "ws";

const MAX_BUFFERED_BYTES = 1024 * 1024;

/** Whether a frame passes; a promise if that depends on money, another frame if it is changed. */
export type FrameVerdict = boolean | { readonly frame: Buffer } | Promise<boolean>;

interface Frame {
  readonly data: Buffer;
  readonly isBinary: boolean;
}

/**
 * One direction of a session: frames pass in order, no faster than the other side reads, and only once they are
 * covered.
 */
export class FramePipe {
  readonly #from: WebSocket;
  readonly #to: WebSocket;
  readonly #judge: (data: Buffer, isBinary: boolean) => FrameVerdict;
  readonly #maxPerSecond: number;
  /** Frames in the second that began at this time of the monotonic clock. */
  #second = { at: 0, frames: 0 };
  /** Frames behind one that waits. */
  #held: Frame[] = [];
  #isWaiting = false;

  constructor(
    from: WebSocket,
    to: WebSocket,
    judge: (data: Buffer, isBinary: boolean) => FrameVerdict,
    maxPerSecond = Infinity,
  ) {
    this.#from = from;
    this.#to = to;
    this.#judge = judge;
    this.#maxPerSecond = maxPerSecond;
    from.on("message", (data: Buffer, isBinary: boolean) => this.#take({ data, isBinary }));
  }

  #take(frame: Frame): void {
    if (this.#isWaiting) this.#held.push(frame);
    else this.#pass(frame);
  }

  #pass(frame: Frame): void {
    const waitMs = this.#tooFastBy();
    if (waitMs > 0) return this.#pauseFor(waitMs, frame);
    const verdict = this.#judge(frame.data, frame.isBinary);
    if (typeof verdict === "boolean") return verdict ? this.#send(frame) : undefined;
    if ("frame" in verdict) return this.#send({ data: verdict.frame, isBinary: false });
    this.#isWaiting = true;
    this.#from.pause();
    void verdict.then((passes) => {
      this.#isWaiting = false;
      if (passes) this.#send(frame);
      this.#passHeld();
    });
  }

  /** Milliseconds until another frame may pass. */
  #tooFastBy(): number {
    const now = performance.now();
    if (now - this.#second.at >= 1_000) this.#second = { at: now, frames: 0 };
    if (this.#second.frames >= this.#maxPerSecond) return Math.max(1, this.#second.at + 1_000 - now);
    this.#second.frames++;
    return 0;
  }

  #pauseFor(ms: number, frame: Frame): void {
    this.#held.unshift(frame);
    this.#isWaiting = true;
    this.#from.pause();
    setTimeout(() => {
      this.#isWaiting = false;
      this.#passHeld();
    }, ms).unref();
  }

  #passHeld(): void {
    while (!this.#isWaiting) {
      const next = this.#held.shift();
      if (!next) break;
      this.#pass(next);
    }
    this.#resume();
  }

  #send({ data, isBinary }: Frame): void {
    if (this.#to.readyState !== WebSocket.OPEN) return;
    this.#to.send(data, { binary: isBinary }, () => this.#resume());
    if (this.#to.bufferedAmount >= MAX_BUFFERED_BYTES) this.#from.pause();
  }

  #resume(): void {
    const isFull = this.#to.readyState === WebSocket.OPEN && this.#to.bufferedAmount >= MAX_BUFFERED_BYTES;
    if (this.#isWaiting || isFull || !this.#from.isPaused || this.#from.readyState !== WebSocket.OPEN) return;
    this.#from.resume();
  }
}
