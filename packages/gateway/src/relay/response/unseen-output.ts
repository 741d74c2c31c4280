import { firstEvent, type StreamEvent } from "../../lib/text/sse.ts";
import type { Dialect } from "../../dialects/core/types.ts";
import type { OutputCounter } from "./output-counter.ts";

/** How far a stream is read after its client has left. */
export interface ReadOn {
  readonly ms: number;
  /** Output tokens that are reserved. */
  readonly tokens: number;
  /** True if silence is reasoning; false if that is unknown. */
  readonly isReasoning: boolean;
}

/** Silence before an answer that is not reasoning. */
export const USUAL_SILENCE_MS = 2_000;

/**
 * Measures the hidden output of a reasoning model: the time until its first text, and how far its answer is read if the
 * client leaves before the usage came.
 */
export class UnseenOutput {
  readonly #limits: ReadOn;
  readonly #startedAt: number;
  readonly #dialect: Dialect;
  #firstTextAt: number | undefined;
  #leftAt: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #counter: OutputCounter | undefined;
  /** Upper estimate of the output at which the gateway stops reading. */
  #until = Infinity;
  #stop: () => void = () => {};

  constructor(limits: ReadOn, startedAt: number, dialect: Dialect) {
    this.#limits = limits;
    this.#startedAt = startedAt;
    this.#dialect = dialect;
  }

  /** True if the client left and the answer is read anyway. */
  get isReadOn(): boolean {
    return this.#timer !== undefined;
  }

  /** Milliseconds of reasoning, measured by silence while the client was connected. */
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

  /** Calls `stop` when enough has been read; false if the answer is not read further. */
  readOn(counter: OutputCounter, stop: () => void): boolean {
    this.#leftAt = performance.now();
    if (this.#limits.ms === 0 || !this.#mayHaveReasoned) return false;
    this.#counter = counter;
    this.#until = counter.bound() + this.#limits.tokens;
    this.#stop = stop;
    this.#timer = setTimeout(stop, this.#limits.ms).unref();
    return true;
  }

  /** True for a model that no list knows if its silence suggests that it has reasoned. */
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
