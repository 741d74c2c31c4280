import WebSocket from "ws";

const MAX_BUFFERED_BYTES = 1024 * 1024;

/** Whether a frame passes; a promise where that depends on money, another frame where it is changed. */
export type FrameVerdict = boolean | { readonly frame: Buffer } | Promise<boolean>;

interface Frame {
  readonly data: Buffer;
  readonly isBinary: boolean;
}

/** One direction of a session: frames in order, no faster than the other side reads, and none before its money. */
export class FramePipe {
  readonly #from: WebSocket;
  readonly #to: WebSocket;
  readonly #judge: (data: Buffer, isBinary: boolean) => FrameVerdict;
  /** Frames behind one that waits. */
  #held: Frame[] = [];
  #isWaiting = false;

  constructor(from: WebSocket, to: WebSocket, judge: (data: Buffer, isBinary: boolean) => FrameVerdict) {
    this.#from = from;
    this.#to = to;
    this.#judge = judge;
    from.on("message", (data: Buffer, isBinary: boolean) => this.#take({ data, isBinary }));
  }

  #take(frame: Frame): void {
    if (this.#isWaiting) this.#held.push(frame);
    else this.#pass(frame);
  }

  #pass(frame: Frame): void {
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
