import { firstEvent, type StreamEvent } from "../../lib/text/sse.ts";
import type { Dialect } from "../../dialects/core/types.ts";
import type { OutputCounter } from "./output-counter.ts";

/** How far a stream is read whose client has left. */
export interface ReadOn {
  readonly ms: number;
  /** Output tokens that are reserved. */
  readonly tokens: number;
  /** Silence is reasoning; false where that is not known. */
  readonly isReasoning: boolean;
}

/** Silence before an answer that is no reasoning. */
export const USUAL_SILENCE_MS = 2_000;

/**
 * The hidden output of a reasoning model: the time until its first text, and how far its answer is read
 * when the client leaves before the usage came.
 */
export class UnseenOutput {
  readonly #limits: ReadOn;
  readonly #startedAt: number;
  readonly #dialect: Dialect;
  #firstTextAt: number | undefined;
  #leftAt: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #counter: OutputCounter | undefined;
  /** Upper estimate of the output at which reading on ends. */
  #until = Infinity;
  #stop: () => void = () => {};

  constructor(limits: ReadOn, startedAt: number, dialect: Dialect) {
    this.#limits = limits;
    this.#startedAt = startedAt;
    this.#dialect = dialect;
  }

  /** The client left, and the answer is read all the same. */
  get isReadOn(): boolean {
    return this.#timer !== undefined;
  }

  /** Milliseconds of reasoning, by its silence while the client was connected. */
  get ms(): number {
    return this.#limits.isReasoning ? this.#silentMs : 0;
  }

  get #silentMs(): number {
    return (this.#firstTextAt ?? this.#leftAt ?? performance.now()) - this.#startedAt;
  }

  /** `blocks` are whole events of the upstream. */
  note(blocks: Buffer): void {
    this.#firstTextAt ??= this.#hasText(blocks) ? performance.now() : undefined;
    if (this.#counter && this.#counter.bound() >= this.#until) this.#stop();
  }

  /** Calls `stop` when it has been read far enough; false where it is not read on at all. */
  readOn(counter: OutputCounter, stop: () => void): boolean {
    this.#leftAt = performance.now();
    if (this.#limits.ms === 0 || !this.#mayHaveReasoned) return false;
    this.#counter = counter;
    this.#until = counter.bound() + this.#limits.tokens;
    this.#stop = stop;
    this.#timer = setTimeout(stop, this.#limits.ms).unref();
    return true;
  }

  /** A model that no list knows says by its silence that it may have reasoned. */
  get #mayHaveReasoned(): boolean {
    return this.#limits.isReasoning || this.#silentMs > USUAL_SILENCE_MS;
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #hasText(blocks: Buffer): boolean {
    const isText = ({ data }: StreamEvent) => data !== undefined && this.#dialect.eventTexts(data).text !== "";
    return firstEvent(blocks, isText) !== undefined;
  }
}
