import type { TokenCounter } from "../../billing/tokenizer/token-counter.ts";
import { modelInEvent } from "../../dialects/core/answered-model.ts";
import { HostedCalls, unreportedCalls } from "../../dialects/core/hosted-calls.ts";
import { mayNameTiers, servedTiers, type ServedTiers } from "../../dialects/core/served-tiers.ts";
import type { Dialect, Usage, UsageMeter } from "../../dialects/core/types.ts";
import { firstEvent, parseEvents } from "../../lib/text/sse.ts";
import { OutputCounter } from "./output-counter.ts";
import type { Completion, Nothing, SinkContext } from "./sink.ts";
import type { FinishReason } from "../upstream/attempt-result.ts";
import { UnseenOutput } from "./unseen-output.ts";

/**
 * Fewest bytes of a stream for each of its tokens, except for texts without any framing; tokens of such texts beyond
 * their reservation are not charged.
 */
const BYTES_OF_TOKEN = 3;
/** Bytes of the upstream between two checks of the reservation. */
const PROGRESS_EVERY = 8 * 1024;

interface DeliveredOutputDeps {
  /** The dialect of the upstream. */
  readonly upstream: Dialect;
  readonly meter: UsageMeter;
  readonly isTranslated: boolean;
  readonly counter: TokenCounter;
}

/** Measures what a stream has delivered, for its charge. */
export class DeliveredOutput {
  readonly #context: SinkContext;
  readonly #deps: DeliveredOutputDeps;
  readonly #counter: OutputCounter;
  /** Undefined if no tool of the vendor can be called. */
  readonly #hostedCalls: HostedCalls | undefined;
  readonly #unseen: UnseenOutput | undefined;
  #received = 0;
  #model: string | undefined;
  #usage: Usage | undefined;
  #tiers: ServedTiers | undefined;
  #progressAt = PROGRESS_EVERY;
  /** Bytes of the upstream that the reservation covers without reading their text. */
  #coveredUntil: number | undefined;
  #isWithheld = false;

  constructor(context: SinkContext, deps: DeliveredOutputDeps) {
    const { spec } = context.request;
    this.#context = context;
    this.#deps = deps;
    this.#counter = new OutputCounter(deps.upstream, spec.model, deps.counter);
    this.#hostedCalls = spec.hostedTools ? new HostedCalls(spec.containers) : undefined;
    this.#unseen = context.readOn && new UnseenOutput(context.readOn, context.startedAt, deps.upstream);
  }

  /** `blocks` are whole events of the upstream. */
  note(blocks: Buffer): void {
    if (this.#received === 0)
      firstEvent(blocks, ({ data }) => (this.#model ??= data && modelInEvent(data)) !== undefined);
    this.#counter.add(blocks);
    this.#received += blocks.length;
    this.#unseen?.note(blocks);
    this.#context.exchange?.readEvents(blocks);
    this.#noteTiers(blocks);
    if (this.#hostedCalls) for (const { data } of parseEvents(blocks)) if (data) this.#hostedCalls.see(data);
  }

  /** Tiers come with usage; many upstreams name them in every event. */
  #noteTiers(blocks: Buffer): void {
    const { usage } = this.#deps.meter;
    if (usage === this.#usage || !mayNameTiers(blocks)) return;
    this.#usage = usage;
    for (const { data } of parseEvents(blocks)) if (data) this.#tiers = servedTiers(data, this.#tiers);
  }

  /** `blocks` are the events before an error. */
  noteLast(blocks: Buffer): void {
    this.#context.exchange?.readEvents(blocks);
    this.#counter.add(blocks);
  }

  /**
   * Undefined if the reservation covers these events as well. Otherwise resolves when it does, or when the stream has
   * been stopped.
   */
  covering(blocks: Buffer): Promise<void> | undefined {
    const received = this.#received + blocks.length;
    if (received <= (this.#coveredUntil ??= this.#context.outputRoom * BYTES_OF_TOKEN)) return undefined;
    const { outputRoom } = this.#context;
    const atMost = this.#counter.boundWith(blocks);
    if (atMost > outputRoom) return this.#context.grow(atMost, () => this.#counter.countWith(blocks));
    this.#coveredUntil = received + (outputRoom - atMost) * BYTES_OF_TOKEN;
    return undefined;
  }

  /** The last events were not delivered, so usage that came with them does not count. */
  withhold(): void {
    this.#isWithheld = true;
  }

  /** Lets the reservation grow with the output. */
  checkReservation(): void {
    if (this.#received <= this.#progressAt) return;
    this.#progressAt = this.#received + PROGRESS_EVERY;
    this.#context.progress(() => this.#counter.bound());
  }

  /** True if the client left and the answer is read to learn its cost. */
  get isReadOn(): boolean {
    return this.#unseen?.isReadOn === true;
  }

  /** Calls `stop` when enough of the answer was read; false if it is not read further. */
  readOn(stop: () => void): boolean {
    return this.#unseen?.readOn(this.#counter, stop) === true;
  }

  completion(reason: FinishReason, firstContentAt: number | undefined, nothing: Nothing | undefined): Completion {
    const { usage: reported, finished } = this.#deps.meter;
    const isUnbilled = nothing === "refused" && this.#context.target.plan.provider.billsRefusals !== true;
    const usage = isUnbilled && reported?.output === 0 ? undefined : this.#ofDelivered(reported);
    const isWhole = reason === "guardrail" && finished && usage !== undefined;
    return {
      reason,
      usage,
      outputBound: () => this.#counter.bound(),
      countOutput: () => (isWhole ? Promise.resolve(usage.output) : this.#counter.count()),
      bytes: this.#received,
      toolCalls: this.#toolCalls(),
      model: this.#model,
      servedTiers: this.#tiers,
      unseenMs: reason === "client_abort" && !finished ? this.#unseen?.ms : undefined,
      firstContentAt,
      nothing,
    };
  }

  #ofDelivered(usage: Usage | undefined): Usage | undefined {
    return usage && this.#isWithheld ? { ...usage, output: 0, reasoning: 0, audioOutput: 0 } : usage;
  }

  /** Frees what is no longer needed after the charge. */
  charged(): void {
    this.#unseen?.end();
    this.#counter.release();
  }

  #toolCalls(): Completion["toolCalls"] {
    if (!this.#hostedCalls) return undefined;
    const { upstream, isTranslated } = this.#deps;
    return this.#hostedCalls.calls ?? unreportedCalls(this.#context.request.spec, upstream.id, isTranslated);
  }
}
