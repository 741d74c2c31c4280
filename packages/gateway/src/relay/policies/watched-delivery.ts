import type { ServerResponse } from "node:http";
import type { Recorder } from "./cache/recorder.ts";
import { Delivery, type AnswerJudge, type DeliveryTicker } from "../response/delivery.ts";
import type { AnswerGuard, AnswerGuardDeps } from "./guardrail/answer-guard.ts";

/** The parts that read an answer on its way out; at least one of them is set. */
export interface Watchers {
  readonly recorder: Recorder | undefined;
  readonly guard: ((release: AnswerGuardDeps["release"]) => AnswerGuard) | undefined;
}

/** A delivery whose bytes are held back until they are judged, recorded for equal requests, or both. */
export class WatchedDelivery extends Delivery {
  readonly #recorder: Recorder | undefined;
  readonly #guard: AnswerGuard | undefined;

  constructor(response: ServerResponse, ticker: DeliveryTicker, { recorder, guard }: Watchers) {
    super(response, ticker);
    this.#recorder = recorder;
    const own = guard?.((bytes, onDrain) => super.write(bytes, onDrain));
    this.#guard = own;
    if (own) response.on("close", () => own.leave());
  }

  override get judge(): AnswerJudge | undefined {
    return this.#guard;
  }

  override whenAllowed(run: () => void): void {
    if (this.#guard) this.#guard.whenAllowed(run);
    else run();
  }

  override sendHead(headers: Record<string, string>): void {
    this.#recorder?.head(headers);
    super.sendHead(headers);
  }

  override write(bytes: Buffer, onDrain: () => void): boolean {
    this.#recorder?.add(bytes);
    return this.#guard ? this.#guard.hold(bytes, onDrain) : super.write(bytes, onDrain);
  }

  override end(bytes?: Buffer): void {
    if (bytes) this.#recorder?.add(bytes);
    const held = this.#guard?.rest();
    super.end(held && bytes ? Buffer.concat([held, bytes]) : (held ?? bytes));
  }

  override endWhole(bytes: Buffer): void {
    this.end(bytes);
  }

  override breakOff(frame: Buffer): void {
    this.#guard?.rest();
    super.breakOff(frame);
  }
}
