import type { UsageMeter } from "../../dialects/core/types.ts";

/** Silence after the end of the answer and its usage; nothing more is expected. */
const AFTER_USAGE_MS = 3_000;
/** Silence after the end of the answer alone: its usage may still come. */
const AFTER_FINISH_MS = 10_000;
/** The end of one choice, in the protocols that answer several times. */
const FINISH = /"finish_?[rR]eason"\s*:\s*"[^"]/g;

/**
 * Ends a stream whose upstream said that the answer is over but does not close. Only content delays the end: comments,
 * pings and empty events do not count.
 */
export class StreamClosing {
  readonly #meter: UsageMeter;
  readonly #end: () => void;
  readonly #answers: number;
  /** Choices that have ended. */
  #ended = 0;
  #restMs = AFTER_FINISH_MS;
  #timer: NodeJS.Timeout | undefined;

  /** `end` is called after the answer and all its `answers` choices have ended. */
  constructor(meter: UsageMeter, answers: number, end: () => void) {
    this.#meter = meter;
    this.#answers = answers;
    this.#end = end;
  }

  /** `blocks` are events that the meter has read; the end of the answer is in them or came before. */
  note(blocks: Buffer, hasContent: () => boolean): void {
    if (this.#meter.continues === true) return;
    const hasUsage = this.#meter.usage !== undefined;
    const isWhole = this.#haveAllEnded(blocks);
    // Some upstreams give fewer answers than requested: their usage shows that no more will come.
    if (!isWhole && !hasUsage) return;
    const restMs = isWhole && hasUsage ? AFTER_USAGE_MS : AFTER_FINISH_MS;
    if (this.#timer !== undefined && restMs === this.#restMs && !hasContent()) return;
    this.#restMs = restMs;
    this.restart();
  }

  #haveAllEnded(blocks: Buffer): boolean {
    if (this.#answers === 1) return true;
    this.#ended += blocks.toString("latin1").match(FINISH)?.length ?? 0;
    return this.#ended >= this.#answers;
  }

  /** Waits for the same time again. */
  restart(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#end, this.#restMs).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
