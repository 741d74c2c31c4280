import { outputCarried } from "../../billing/pricing/estimate.ts";
import { NO_LIMIT } from "../../dialects/core/requested-output.ts";
import { type RequestedOutput, NO_USAGE, type RequestSpec, type Usage } from "../../dialects/core/types.ts";
import { ZERO, type Quota } from "../../billing/money/quota.ts";
import { AppError } from "../../lib/app-error.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import type { PaidAttempt } from "./log-row.ts";
import { NOTHING_OWED, type Bill, type BudgetLimits, type Reservation, type Shortage } from "./reservation.ts";
import { SessionCharge } from "./session-charge.ts";
import { raiseForModel, type Delivered, type Seen } from "./session-parts.ts";
import { growsWhileItRuns, hasOutputTokens, learnReasoning, neededOutput } from "./output-reservation.ts";
import { estimateQuota, type RequestTerms } from "./reservation-terms.ts";
import { reserve, type RequestContext, type RequestMoney } from "./reserve.ts";
import type { MarkNote } from "../prompt-cache/mark-prompt.ts";
import type { Completion } from "../response/sink.ts";
import type { RelayRequest } from "../request/request.ts";
import { boundUsage } from "./usage-bound.ts";
import { UsageToCharge } from "./usage-to-charge.ts";

/** Tokens by which a running stream's reservation grows: many, or few if the balance is nearly empty. */
const EXTEND_BY = [1000, 250] as const;
/** Tokens before the end of the reservation at which it is extended. */
const LOOK_AHEAD = 500;
/** Tokens that may arrive between two reads of the output. */
const LAST_TOKENS = 200;

/** The bill of an answer, and the usage that it is for. */
interface Charged extends Bill {
  readonly usage: Usage;
}

/**
 * The money of one request: reserved before the first upstream byte, settled or released exactly once. Prices and
 * ratios stay those of the reservation, whatever an operator changes meanwhile.
 */
export class ReservationSession {
  readonly #request: RelayRequest;
  readonly #terms: RequestTerms;
  readonly #snapshot: Snapshot;
  readonly #money: RequestMoney;
  readonly #reservation: Reservation;
  readonly #usage: UsageToCharge;
  readonly #charge: SessionCharge;
  /** The request as it is priced. */
  #spec: RequestSpec;
  /** Output tokens that the reservation covers. */
  #reserved: number;
  /** Pictures and other units that the reservation covers. */
  #units: number;
  /** The limits of the request that was sent last. */
  #sent: RequestedOutput = NO_LIMIT;
  #isExtending = false;
  /** Output tokens of each answer that the upstream may give; undefined if the reservation covers any answer. */
  outputCap: number | undefined;
  /** Set once the answer is charged. */
  charged: { readonly usage: Usage; readonly quota: Quota; readonly completion: Completion } | undefined;

  private constructor(context: RequestContext, terms: RequestTerms, reservation: Reservation) {
    const { request, snapshot, money } = context;
    this.#request = request;
    this.#spec = request.spec;
    this.#snapshot = snapshot;
    this.#terms = terms;
    this.#reservation = reservation;
    this.#money = money;
    this.#charge = new SessionCharge(context, terms, reservation);
    const isPerCall = terms.price.kind === "call";
    this.#usage = new UsageToCharge({ request, snapshot, counter: money.counter, isPerCall });
    this.#reserved = request.spec.outputCap ?? snapshot.options.DefaultOutputTokens;
    this.#units = request.spec.units;
    this.#limitOutput(request.spec, terms.open);
  }

  #limitOutput(spec: RequestSpec, open: number | undefined): void {
    if (open === undefined) return;
    this.#reserved = Math.min(open, this.#carriedBy(this.#reservation.amount));
    const perAnswer = Math.floor(this.#reserved / (spec.answers ?? 1));
    this.outputCap = this.#reserved < open ? Math.max(1, perAnswer) : undefined;
  }

  /**
   * Reserves what the upstream may bill for the request that is about to be sent, if that is more than the client's own
   * request said: its cap was dropped or replaced, or its pictures are counted by another member. Undefined if the
   * reservation covers that already; rejects if neither the balance nor a hard budget covers it.
   */
  cover(sent: RequestedOutput, marks?: MarkNote): Promise<void> | undefined {
    this.#sent = sent;
    if (!this.#terms.isPriced || this.isClosed) return undefined;
    const isMarked = marks !== undefined && marks.n > 0 && this.#priceWrites(marks);
    const { spec } = this.#request;
    const output = neededOutput(spec, sent, this.#snapshot);
    const units = Math.max(spec.units, sent.images ?? 0);
    return output <= this.#reserved && units <= this.#units && !isMarked ? undefined : this.#raiseFor(output, units);
  }

  /** Marks of the gateway let the vendor write the prompt into its cache, which may cost more. True if that is news. */
  #priceWrites({ ttl }: MarkNote): boolean {
    const kind = ttl === "1h" ? "write1h" : "write";
    const { dearTokens = [] } = this.#spec;
    if (dearTokens.includes(kind)) return false;
    this.#spec = { ...this.#spec, dearTokens: [...dearTokens, kind] };
    return true;
  }

  async #raiseFor(output: number, units: number): Promise<void> {
    const outputCap = Math.max(output, this.#reserved);
    await this.#raiseTo(estimateQuota({ ...this.#spec, outputCap, units }, this.#terms));
    this.#reserved = outputCap;
    this.#units = Math.max(units, this.#units);
  }

  async #raiseTo(amount: Quota): Promise<void> {
    const { amount: reserved } = this.#reservation;
    if (amount <= reserved) return;
    const shortage = await this.#reservation.raise(amount);
    if (shortage === undefined) return;
    if (shortage === "budget")
      throw new AppError("budget_exceeded", {
        message: `A hard budget does not cover the request as it is sent upstream: ${amount} are needed.`,
      });
    throw new AppError("insufficient_user_quota", {
      message: `Your balance does not cover the request as it is sent upstream: ${amount} needed, ${reserved} reserved.`,
    });
  }

  /**
   * If budgets cover less than the reservation, the answer is capped at that; if they cover more, the rest is returned.
   */
  fitBudgets(carried: Quota | undefined): void {
    if (carried === undefined || this.#terms.open === undefined) return;
    const { amount } = this.#reservation;
    if (carried < amount) this.#capAt(carried);
    if (carried > amount) this.#reservation.shrinkBudgets();
  }

  /** Returns the output tokens that a reservation of `amount` covers. */
  #carriedBy(amount: Quota): number {
    const forTokens = Math.max(0, amount - this.#terms.tools) as Quota;
    return outputCarried(forTokens, this.#spec, this.#terms, this.#terms.options);
  }

  #capAt(amount: Quota): void {
    this.#reserved = Math.min(this.#reserved, this.#carriedBy(amount));
    this.outputCap = Math.max(1, Math.floor(this.#reserved / (this.#request.spec.answers ?? 1)));
  }

  /** Rejects with `insufficient_user_quota` or `insufficient_token_quota`. */
  static async open(context: RequestContext, terms: RequestTerms, limits?: BudgetLimits): Promise<ReservationSession> {
    return new ReservationSession(context, terms, await reserve(context, terms, { limits }));
  }

  /**
   * Returns the session of the same reservation at the price of another model. Raises the reservation if that one may
   * cost more; throws `insufficient_user_quota` if nothing covers it.
   */
  async continueWith(context: RequestContext, terms: RequestTerms, limits?: BudgetLimits): Promise<ReservationSession> {
    await raiseForModel(this.#reservation, terms);
    this.#reservation.changeModel(context.request, limits);
    return new ReservationSession(context, terms, this.#reservation);
  }

  get isClosed(): boolean {
    return this.#reservation.isClosed;
  }

  /** Charges for what was delivered; later calls change nothing. Resolves when the charge cannot be lost. */
  async settle(delivered: Delivered): Promise<Usage> {
    const { completion } = delivered;
    const charged = await this.#reservation.settle(() => this.#chargeFor(delivered));
    if (!charged) return completion.usage ?? NO_USAGE;
    const { usage, quota } = charged;
    learnReasoning(this.#request.spec, usage, completion.reason === "stop");
    this.charged = { usage, quota, completion };
    return usage;
  }

  /** Waits only if it has to: most answers report usage that the reservation covers. */
  #chargeFor(delivered: Delivered): Charged | Promise<Charged> {
    const { completion } = delivered;
    const known = this.#usage.known(completion, this.#sent);
    return known && !completion.servedTiers && this.#isReserved(known)
      ? this.#buildCharge(delivered, known)
      : this.#findCharge(delivered, known);
  }

  async #findCharge(delivered: Delivered, known: Usage | undefined): Promise<Charged> {
    const { completion, attempt } = delivered;
    const counted = known ?? (await this.#countUsage(completion));
    const usage = this.#isReserved(counted) ? counted : await this.#carried(counted, delivered);
    const { servedTiers } = completion;
    if (servedTiers) await this.#charge.priceAsServed(usage, servedTiers, attempt, (amount) => this.#raiseTo(amount));
    return this.#buildCharge(delivered, usage);
  }

  #buildCharge(delivered: Delivered, usage: Usage): Charged {
    const { completion, attempt } = delivered;
    const quota =
      completion.nothing === "broken"
        ? ZERO
        : this.#charge.calculateQuota(usage, attempt, (error) =>
            this.#money.onUncomputable(this.#request.id, this.#reservation.amount, error),
          );
    if (usage.reported) this.#money.onDoubtfulUsage(this.#request, attempt.target, usage);
    const { LogConsumeEnabled } = this.#snapshot.options;
    const log = LogConsumeEnabled ? this.#charge.buildLog(delivered, usage, quota) : undefined;
    return { usage, quota, target: attempt.target, log };
  }

  /** True if the output is within what is reserved for it, or its length changes no charge. */
  #isReserved({ output }: Usage): boolean {
    const { price, isPriced } = this.#terms;
    return output <= this.#reserved || !isPriced || price.kind === "call" || !hasOutputTokens(this.#request.spec);
  }

  /**
   * Charges output up to what is reserved for it. A request that was sent without a cap first raises the reservation to
   * what its upstream reports; if the balance does not cover that, the row says what was reported.
   */
  async #carried(usage: Usage, delivered: Delivered): Promise<Usage> {
    if (await this.#extendFor(usage, delivered)) return usage;
    const bounded = boundUsage(usage, { input: usage.input, output: this.#reserved, units: Infinity });
    return usage.reported ? { ...bounded, reported: usage.reported } : bounded;
  }

  /** Extends to what the upstream reports, if it may bill more than is reserved; false if nothing covers that. */
  async #extendFor(usage: Usage, { completion, attempt, tried }: Delivered): Promise<boolean> {
    const isCapped = this.#sent.cap !== undefined && !this.#grows;
    if (isCapped && !this.#request.spec.hostedTools) return false;
    const refusal = await this.#extendTo(usage.output, this.#seenBy(completion, usage, attempt, tried).bill);
    if (!refusal) return true;
    return refusal === "balance" && this.#grows && !this.#snapshot.options.StopStreamsOnEmptyBalance;
  }

  /** True if the reservation grows while the answer runs. */
  get #grows(): boolean {
    return growsWhileItRuns(this.#request.spec, this.#sent, this.#snapshot);
  }

  /** Called if nothing was delivered. */
  release(): Promise<void> {
    return this.#reservation.release();
  }

  /**
   * The client left before the answer began: it owes nothing, or the prompt if the operator wants that. A call that
   * reached an upstream has a log row in any case.
   */
  async abandon(attempt: PaidAttempt | undefined): Promise<void> {
    if (!attempt || attempt.upstreamHost === "") return this.release();
    const isOwed = this.#snapshot.options.BillAbortedPrompt && this.#terms.price.kind === "tokens";
    await attempt.settle({
      reason: "client_abort",
      usage: undefined,
      nothing: isOwed ? undefined : "broken",
      countOutput: () => Promise.resolve(0),
      firstContentAt: undefined,
    });
  }

  /** Records in the ledger what the request would cost at most if this process died now. Called every few seconds. */
  async renew(attempt?: PaidAttempt, tried: readonly PaidAttempt[] = []): Promise<void> {
    if (this.isClosed) return;
    const seen = attempt && this.#seenAtMost(attempt, tried);
    // An attempt that has delivered nothing owes nothing, whatever the one before was seen to deliver.
    await this.#reservation.renew(seen?.bill ?? NOTHING_OWED);
  }

  /** Extends the reservation before the upper estimate of the output reaches it. */
  progress(outputBound: () => number, attempt: PaidAttempt, tried: readonly PaidAttempt[]): void {
    if (this.#isExtending || this.isClosed || !this.#terms.isPriced || !this.#grows) return;
    if (outputBound() < this.#reserved - LOOK_AHEAD) return;
    this.#isExtending = true;
    void this.#extend(attempt, tried)
      // The same failure is reported when the reservation is renewed or charged.
      .catch(() => undefined)
      .finally(() => {
        this.#isExtending = false;
      });
  }

  /** Output tokens that the answer may have before the reservation has to grow; Infinity if it does not grow. */
  get outputRoom(): number {
    const { price, isPriced } = this.#terms;
    return isPriced && price.kind !== "call" && this.#grows ? this.#reserved : Infinity;
  }

  /**
   * Reserves a piece of the answer before it is delivered, counted exactly if its upper estimate is refused. A piece
   * that is not covered ends the stream: for a hard budget always, for a balance if the operator wants that. Never
   * rejects.
   */
  async grow(
    atMost: number,
    exactly: () => Promise<number>,
    { attempt, tried }: Pick<Delivered, "attempt" | "tried">,
  ): Promise<void> {
    let refusal: Shortage | undefined;
    try {
      const bill = this.#seenAtMost(attempt, tried)?.bill;
      refusal = await this.#growTo([atMost + EXTEND_BY[0], atMost], bill);
      if (refusal) refusal = await this.#growTo([await exactly()], bill);
    } catch {
      // The reservation cannot be reached, so the piece is not covered.
      refusal = "budget";
    }
    const ends = refusal === "budget" || this.#snapshot.options.StopStreamsOnEmptyBalance;
    if (refusal && ends && !this.isClosed) attempt.stop(new AppError("insufficient_quota"), "quota_exhausted");
  }

  /** Extends to the first of these lengths that is covered; returns what does not cover any of them. */
  async #growTo(lengths: readonly number[], soFar: Bill | undefined): Promise<Shortage | undefined> {
    let refusal: Shortage | undefined;
    for (const length of lengths) {
      if (this.isClosed || length <= this.#reserved) return undefined;
      refusal = await this.#extendTo(length, soFar);
      if (refusal) continue;
      this.#reserved = Math.max(this.#reserved, length);
      return undefined;
    }
    return refusal;
  }

  /**
   * A refused extension ends the stream shortly before the reservation is used up: for a hard budget always, for a
   * balance if the operator wants that. Only a refused extension is counted exactly.
   */
  async #extend(attempt: PaidAttempt, tried: readonly PaidAttempt[]): Promise<void> {
    const bound = this.#seenAtMost(attempt, tried);
    if (!bound || !(await this.#extendPast(bound))) return;
    const seen = await this.#seen(attempt, tried);
    if (!seen || seen.output < this.#reserved - LOOK_AHEAD) return;
    const refusal = await this.#extendPast(seen);
    if (!refusal) return;
    const isUsedUp = seen.output >= this.#reserved - LAST_TOKENS;
    const ends = refusal === "budget" || this.#snapshot.options.StopStreamsOnEmptyBalance;
    if (isUsedUp && ends && !this.isClosed) attempt.stop(new AppError("insufficient_quota"), "quota_exhausted");
  }

  /** Extends past what was seen, by much or by little; returns what covers neither. */
  async #extendPast({ output, bill }: Seen): Promise<Shortage | undefined> {
    const lengths = EXTEND_BY.map((more) => output + more);
    return this.#growTo(lengths, bill);
  }

  /** Extends to this many output tokens; returns what cannot cover them. */
  #extendTo(outputCap: number, soFar: Bill | undefined): Promise<Shortage | undefined> {
    const amount = estimateQuota({ ...this.#spec, outputCap, units: this.#units }, this.#terms);
    return this.#reservation.raise(amount, soFar);
  }

  /** Returns what would be due if the request ended now; undefined if nothing was delivered. */
  async #seen(attempt: PaidAttempt, tried: readonly PaidAttempt[]): Promise<Seen | undefined> {
    const completion = attempt.soFar();
    if (!completion) return undefined;
    const usage = this.#usage.known(completion, this.#sent) ?? (await this.#countUsage(completion));
    return this.#seenBy(completion, usage, attempt, tried);
  }

  /** The same by upper estimates, which need no encoder. */
  #seenAtMost(attempt: PaidAttempt, tried: readonly PaidAttempt[]): Seen | undefined {
    const completion = attempt.soFar();
    if (!completion) return undefined;
    const usage = this.#usage.atMost(completion, { reserved: this.#reserved, sent: this.#sent });
    return this.#seenBy(completion, usage, attempt, tried);
  }

  #seenBy(completion: Completion, usage: Usage, attempt: PaidAttempt, tried: readonly PaidAttempt[]): Seen {
    const quota = this.#charge.calculateQuota(usage, attempt);
    const bill = this.#charge.buildBill({ completion, built: undefined, attempt, tried }, usage, quota);
    return { bill, output: usage.output };
  }

  #countUsage(completion: Completion): Promise<Usage> {
    return this.#usage.count(completion, { reserved: this.#reserved, sent: this.#sent });
  }
}
