import type { BudgetTerms } from "../../billing/budgets/budget.ts";
import type { StreamForm } from "../../dialects/core/types.ts";
import type { AppError } from "../../lib/app-error.ts";
import type { CallSpan } from "../../observability/tracing/call-span.ts";
import type { FallbackNote } from "./fallbacks.ts";
import type { GuardrailNote, StopNotes } from "./stop-notes.ts";
import type { FailedAttempt, TracedCandidates } from "./traced-route.ts";

/** The channels of the model that serves, as its selection sees them. */
interface ChosenFrom {
  candidates(): TracedCandidates;
}

const NO_FAILURES: readonly FailedAttempt[] = [];

/**
 * What happened to a call so far: for its log row, its span and its metrics, and for the answer to its client if it
 * ends early. Each method says what happened, and nothing else changes it. What a later step needs to do its work is
 * the result of an earlier step, and is not here.
 */
export class CallProgress implements StopNotes {
  #span: CallSpan | undefined;
  #isCounted = false;
  #model: string | undefined;
  #fallback: FallbackNote | undefined;
  #channels: ChosenFrom | undefined;
  #isAffine = false;
  #queueMs: number | undefined;
  #fullLimit: string | undefined;
  #usedUp: StopNotes["usedUp"];
  #guardrail: GuardrailNote | undefined;
  #form: StreamForm | undefined;
  #failures: FailedAttempt[] | undefined;
  #stopped: AppError | undefined;

  /** A trace of the call has begun. */
  traced(span: CallSpan): void {
    this.#span = span;
  }

  /** Undefined if no traces are sent. */
  get span(): CallSpan | undefined {
    return this.#span;
  }

  /** The call was counted toward the limits of its caller, or is about to be. */
  counted(): void {
    this.#isCounted = true;
  }

  get isCounted(): boolean {
    return this.#isCounted;
  }

  /** The channels of its model are known, and one of them is drawn. */
  chose(channels: ChosenFrom): void {
    this.#channels = channels;
  }

  /** Undefined if the call was refused before that. */
  get channels(): ChosenFrom | undefined {
    return this.#channels;
  }

  /** The call continues a conversation: on the channel that served it before, or on another one. */
  continued(isAffine: boolean): void {
    this.#isAffine = isAffine;
  }

  get isAffine(): boolean {
    return this.#isAffine;
  }

  /** The call left the queue of a full channel after this many milliseconds. */
  leftQueue(ms: number): void {
    this.#queueMs = Math.round(ms);
  }

  get queueMs(): number | undefined {
    return this.#queueMs;
  }

  /** A limit of this scope refused the call; `channel` if every channel was full. */
  reachedLimit(scope: string): void {
    this.#fullLimit = scope;
  }

  get fullLimit(): string | undefined {
    return this.#fullLimit;
  }

  /** A budget or a balance does not cover the call, or no more of it. */
  exhausted(what: BudgetTerms | "balance"): void {
    this.#usedUp = what;
  }

  get usedUp(): StopNotes["usedUp"] {
    return this.#usedUp;
  }

  /** The guardrail refused a text, or gave no verdict. */
  judged(note: GuardrailNote): void {
    this.#guardrail = note;
  }

  get guardrail(): GuardrailNote | undefined {
    return this.#guardrail;
  }

  /**
   * The call asks another model for admission, which has notes of its own. Returns a function that restores those of
   * the model before, if the other one refuses the call.
   */
  askedModel(): () => void {
    const [channels, isAffine, usedUp] = [this.#channels, this.#isAffine, this.#usedUp];
    this.#isAffine = false;
    this.#usedUp = undefined;
    return () => {
      this.#channels = channels;
      this.#isAffine = isAffine;
      this.#usedUp = usedUp;
    };
  }

  /** The call looked for another model; `model` now serves, undefined if it is still the one before. */
  lookedFurther(fallback: FallbackNote, model: string | undefined): void {
    this.#fallback = fallback;
    if (model !== undefined) this.#model = model;
  }

  get fallback(): FallbackNote | undefined {
    return this.#fallback;
  }

  /** The model in place of the requested one; undefined if that one serves. */
  get model(): string | undefined {
    return this.#model;
  }

  /** Keep-alives of this form may already have begun its stream. */
  beganStream(form: StreamForm | undefined): void {
    this.#form = form;
  }

  get form(): StreamForm | undefined {
    return this.#form;
  }

  /** An upstream call failed. */
  failed(attempt: FailedAttempt["attempt"], failure: FailedAttempt["failure"]): void {
    (this.#failures ??= []).push({ attempt, failure, endedAt: performance.now(), end: undefined });
  }

  /** After the last failure no further channel of the model was tried, for this reason. */
  gaveUp(end: string): void {
    const last = this.#failures?.at(-1);
    if (last) this.#failures?.splice(-1, 1, { ...last, end });
  }

  /** Failed attempts, oldest first. */
  get failures(): readonly FailedAttempt[] {
    return this.#failures ?? NO_FAILURES;
  }

  /** The gateway ends the call, which begins no further attempt; the first reason counts. */
  stop(error: AppError): void {
    this.#stopped ??= error;
  }

  get stopped(): AppError | undefined {
    return this.#stopped;
  }
}
