import type { Dialect } from "../../../dialects/core/types.ts";
import { AppError } from "../../../lib/app-error.ts";
import type { AnswerJudge } from "../../response/delivery.ts";
import { AnswerText } from "./answer-text.ts";
import type { Judge } from "./guardrail.ts";

export interface AnswerGuardDeps {
  readonly judge: Judge;
  /** The client's protocol. */
  readonly dialect: Dialect;
  readonly windowChars: number;
  readonly windowMs: number;
  /** Writes to the client; false if it does not keep up, and then `onDrain` is called once. */
  readonly release: (bytes: Buffer, onDrain: () => void) => boolean;
  /** Called when a window in the middle of a stream is refused. */
  readonly onBlocked: (error: AppError) => void;
}

/** At this many held bytes, the text is judged and the upstream has to wait. */
const MAX_HELD = 256 * 1024;

/**
 * Holds a streamed answer back until it is judged, window by window, in order and one at a time: while one window is
 * judged, the next one fills. Judged text leaves as the original bytes.
 */
export class AnswerGuard implements AnswerJudge {
  readonly #deps: AnswerGuardDeps;
  readonly #left = new AbortController();
  #held: Buffer[] = [];
  #heldBytes = 0;
  #text: AnswerText;
  /** The end of the text that was judged before. */
  readonly #context: AnswerText;
  #window = 0;
  #timer: NodeJS.Timeout | undefined;
  #asking: Promise<void> | undefined;
  #isClientSlow = false;
  #resume: (() => void) | undefined;
  #blocked: AppError | undefined;
  #isFinishing = false;
  #isAllowed = false;
  #onAllowed: (() => void)[] = [];

  constructor(deps: AnswerGuardDeps) {
    this.#deps = deps;
    this.#text = new AnswerText(deps.dialect);
    this.#context = new AnswerText(deps.dialect);
  }

  /** Holds whole events on their way to the client; returns false if no more should come before `onDrain` is called. */
  hold(bytes: Buffer, onDrain: () => void): boolean {
    if (this.#blocked || this.#left.signal.aborted) return true;
    this.#text.add(bytes);
    if (this.#text.length === 0 && this.#held.length === 0 && !this.#asking) return this.#deps.release(bytes, onDrain);
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    this.#look();
    if (this.#heldBytes < MAX_HELD && !this.#isClientSlow) return true;
    this.#resume = onDrain;
    return false;
  }

  /** Judges the remaining text and `last`, which the caller sends itself. */
  async stream(last: Buffer | undefined): Promise<AppError | undefined> {
    this.#isFinishing = true;
    clearTimeout(this.#timer);
    await this.#asking;
    if (last) this.#text.add(last);
    if (!this.#blocked && this.#text.length > 0) await this.#ask();
    this.#allow();
    return this.#blocked;
  }

  async judgeAnswer(text: string): Promise<AppError | undefined> {
    this.#isFinishing = true;
    const { signal } = this.#left;
    this.#blocked = await this.#deps.judge({ phase: "answer", text, signal });
    this.#allow();
    return this.#blocked;
  }

  /** Returns the text to release at the end of the answer; text without a verdict is not released. */
  rest(): Buffer | undefined {
    const held = this.#isAllowed && this.#held.length > 0 ? Buffer.concat(this.#held, this.#heldBytes) : undefined;
    this.leave();
    return held;
  }

  /** Called when the client has left, or has its last bytes. */
  leave(): void {
    clearTimeout(this.#timer);
    this.#forget();
    this.#left.abort(new AppError("client_closed_request"));
  }

  whenAllowed(run: () => void): void {
    if (this.#isAllowed) run();
    else this.#onAllowed.push(run);
  }

  #allow(): void {
    this.#isAllowed = !this.#blocked && !this.#left.signal.aborted;
    if (this.#isAllowed) for (const run of this.#onAllowed) run();
    this.#onAllowed = [];
  }

  /** Judges the held text if there is enough of it, or after a while. */
  #look(): void {
    if (this.#asking || this.#isFinishing || this.#held.length === 0) return;
    const { length } = this.#text;
    const isFull = length >= this.#deps.windowChars || this.#heldBytes >= MAX_HELD;
    if (length === 0 || isFull) return this.#start();
    this.#timer ??= setTimeout(() => this.#start(), this.#deps.windowMs);
  }

  #start(): void {
    this.#asking = this.#judgeHeld().finally(() => {
      this.#asking = undefined;
      if (!this.#blocked) this.#look();
    });
  }

  async #judgeHeld(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const held = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    await this.#ask();
    if (this.#left.signal.aborted) return;
    if (this.#blocked) return this.#stop(this.#blocked);
    this.#isClientSlow = !this.#deps.release(held.length === 1 ? (held[0] as Buffer) : Buffer.concat(held), () => {
      this.#isClientSlow = false;
      this.#wake();
    });
    this.#wake();
  }

  async #ask(): Promise<void> {
    const text = this.#text;
    this.#text = new AnswerText(this.#deps.dialect);
    this.#blocked = await this.#deps.judge({
      phase: "answer",
      text: text.toString(),
      window: this.#window++,
      context: this.#context.toString(),
      signal: this.#left.signal,
    });
    this.#context.join(text);
    this.#context.cut(this.#deps.windowChars);
  }

  #stop(error: AppError): void {
    this.#forget();
    if (!this.#isFinishing) this.#deps.onBlocked(error);
  }

  #forget(): void {
    this.#held = [];
    this.#heldBytes = 0;
  }

  #wake(): void {
    if (this.#isClientSlow || this.#heldBytes >= MAX_HELD) return;
    const resume = this.#resume;
    this.#resume = undefined;
    resume?.();
  }
}
