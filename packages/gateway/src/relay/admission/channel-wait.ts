import type { Snapshot } from "../../snapshot/types.ts";
import type { AdmissionQueue, QueuePosition } from "./admission-queue.ts";

type QueueOptions = Pick<Snapshot["options"], "ChannelQueueLength" | "ChannelQueueSeconds">;

/** The wait of one request in the queues of channels that are at their limits. */
export class ChannelWait {
  readonly #queue: AdmissionQueue;
  readonly #userId: number;
  readonly #options: QueueOptions;
  #position: QueuePosition | undefined;
  #givenUp: { readonly reason: unknown } | undefined;
  /** Milliseconds of the monotonic clock. */
  #since = 0;

  constructor(queue: AdmissionQueue, userId: number, options: QueueOptions) {
    this.#queue = queue;
    this.#userId = userId;
    this.#options = options;
  }

  /** Starts the clock of `ChannelQueueSeconds`. */
  begin(): void {
    this.#since = performance.now();
  }

  /** True from the moment the request joined a queue. */
  get hasQueued(): boolean {
    return this.#position !== undefined;
  }

  /** True if other requests wait for the channel and this one is not among them. */
  isBehindOthers(channelId: number): boolean {
    return this.#position?.isIn(channelId) !== true && this.#queue.isWaitedFor(channelId);
  }

  /**
   * Waits for its turn at one of the channels. False if the time is over or every queue is full; throws the reason of
   * `giveUp`.
   */
  async turn(channelIds: ReadonlySet<number>): Promise<boolean> {
    const { ChannelQueueLength, ChannelQueueSeconds } = this.#options;
    this.#position ??= this.#queue.join(channelIds, this.#userId, ChannelQueueLength);
    const left = ChannelQueueSeconds * 1000 - (performance.now() - this.#since);
    const isTurn = this.#position && left > 0 && !this.#givenUp && (await this.#position.turn(left));
    if (this.#givenUp) throw this.#givenUp.reason;
    return isTurn === true;
  }

  /** Ends the wait; the first reason counts. Has no effect on a request that was already admitted. */
  giveUp(reason: unknown): void {
    this.#givenUp ??= { reason };
    this.#position?.leave();
  }

  /** Leaves the queues and returns the milliseconds since `begin`. The next request checks `channelId` at once. */
  end(channelId: number): number {
    this.#position?.leave();
    this.#queue.freed(channelId);
    return performance.now() - this.#since;
  }
}
