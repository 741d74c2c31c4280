import type { TokenCounter } from "../../billing/tokenizer/token-counter.ts";
import { outputCarried } from "../../billing/pricing/estimate.ts";
import {
  isRefusal,
  type Hold,
  type HoldRequest,
  type Ledger,
  type LogDetail,
  type Settlement,
} from "../../billing/ledger/ledger.ts";
import { charge, type Price } from "../../billing/pricing/price.ts";
import { knownRatio, type Ratio } from "../../billing/money/ratio.ts";
import { quota as toQuota, ZERO, type Quota } from "../../billing/money/quota.ts";
import { NO_USAGE, type Usage } from "../../dialects/core/types.ts";
import { AppError } from "../../lib/app-error.ts";
import type { Caller } from "../../identity/sessions/caller.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import { consumptionLog, type Charged, type Served } from "./log-row.ts";
import type { Attempt } from "./attempt.ts";
import type { BuiltCall } from "./build-call.ts";
import { dueOr } from "./charge-fallback.ts";
import { openOutput } from "./output-reservation.ts";
import {
  estimateOf,
  estimateOptions,
  isPriced,
  reservedForTools,
  termsOf,
  toolSurcharges,
  wishedFor,
  type Terms,
} from "./reservation-terms.ts";
import type { Completion } from "../response/sink.ts";
import type { RouteTarget } from "../selection/types.ts";
import type { RelayRequest } from "../types.ts";
import { boundUsage, usageBounds } from "./usage-bound.ts";
import { countTexts } from "../response/whole-sink.ts";

export interface ReservationDeps {
  readonly ledger: Ledger;
  readonly counter: TokenCounter;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** The charge of a request cannot be computed: what it had reserved is charged. */
  readonly onUncomputable: (requestId: string, charged: Quota, error: unknown) => void;
  /** The upstream reported more than its answer can have cost; `usage` is what is charged. */
  readonly onDoubtfulUsage: (request: Pick<RelayRequest, "id" | "spec">, target: RouteTarget, usage: Usage) => void;
}

/** What a reservation is made from. */
export interface RequestContext {
  readonly request: RelayRequest;
  readonly snapshot: Snapshot;
  /** Groups that may serve. */
  readonly groups: readonly string[];
  readonly deps: ReservationDeps;
}

/** Tokens by which a running stream's reservation grows: much, or what a nearly empty balance still carries. */
const EXTEND_BY = [1000, 250] as const;
/** Tokens before the end of the reservation at which it is extended. */
const LOOK_AHEAD = 500;
/** Part of a reservation that is tried next where budgets do not carry it. */
const SMALLER = 4;
/** Tokens that may arrive between two reads of the output. */
const LAST_TOKENS = 200;

/**
 * The money of one request: reserved before the first upstream byte, settled or released exactly once.
 * Prices and ratios are those of the reservation, whatever an operator changes meanwhile.
 */
export class ReservationSession {
  readonly #request: RelayRequest;
  readonly #price: Price;
  /** Highest ratio among the groups that may serve; reserved, not billed. */
  readonly #groupRatio: string;
  readonly #quotaPerUnit: Ratio;
  readonly #snapshot: Snapshot;
  readonly #deps: ReservationDeps;
  readonly #hold: Hold;
  /** Tokens of output that the reservation carries, and its amount. */
  #reserved: number;
  #amount: Quota;
  #isExtending = false;
  /** Counted at most once, and only where the upstream does not say. */
  #countedInput: Promise<number> | undefined;
  #isClosed = false;
  /** Output tokens of each answer that the upstream may give; undefined where the reservation carries any answer. */
  outputCap: number | undefined;
  /** Asked before a reservation grows; false when a hard budget cannot carry it. Must not reject. */
  extendBudgets: ((amount: Quota) => Promise<boolean>) | undefined;

  private constructor({ request, snapshot, deps }: RequestContext, terms: Terms, hold: Hold) {
    this.#request = request;
    this.#snapshot = snapshot;
    this.#price = terms.price;
    this.#groupRatio = terms.groupRatio;
    this.#quotaPerUnit = knownRatio(String(snapshot.options.QuotaPerUnit));
    this.#hold = hold;
    this.#amount = hold.amount;
    this.#deps = deps;
    this.#reserved = request.spec.outputCap ?? snapshot.options.DefaultOutputTokens;
    this.#limitOutput(request, snapshot);
  }

  #limitOutput(request: RelayRequest, snapshot: Snapshot): void {
    const open = openOutput(request, snapshot);
    if (open === undefined) return;
    const terms = { price: this.#price, groupRatio: this.#groupRatio };
    const amount = this.#forTokens(this.#amount);
    this.#reserved = Math.min(open, outputCarried(amount, request.spec, terms, estimateOptions(snapshot)));
    const perAnswer = Math.floor(this.#reserved / (request.spec.answers ?? 1));
    this.outputCap = this.#reserved < open ? Math.max(1, perAnswer) : undefined;
  }

  /**
   * What is reserved in budgets as well, before the first attempt: all of it, or as much less as they carry. Budgets that
   * carry no more keep what they have reserved, and the answer is capped at that.
   */
  async fitBudgets(): Promise<void> {
    const least = estimateOf(this.#request, { price: this.#price, groupRatio: this.#groupRatio }, this.#snapshot);
    if (!this.extendBudgets || openOutput(this.#request, this.#snapshot) === undefined) return;
    for (let amount = this.#amount; amount > least; amount = Math.floor(amount / SMALLER) as Quota) {
      if (!(await this.extendBudgets(amount))) continue;
      this.#capAt(amount);
      return;
    }
    this.#capAt(least);
  }

  #forTokens(amount: Quota): Quota {
    const { spec } = this.#request;
    return Math.max(0, amount - reservedForTools(spec, this.#groupRatio, this.#snapshot)) as Quota;
  }

  #capAt(amount: Quota): void {
    if (amount >= this.#amount) return;
    const terms = { price: this.#price, groupRatio: this.#groupRatio };
    const { spec } = this.#request;
    const carried = outputCarried(this.#forTokens(amount), spec, terms, estimateOptions(this.#snapshot));
    this.#reserved = Math.min(this.#reserved, carried);
    this.outputCap = Math.max(1, Math.floor(this.#reserved / (spec.answers ?? 1)));
  }

  /** Throws `model_price_error`, `insufficient_user_quota` or `insufficient_token_quota`. */
  static async open(context: RequestContext): Promise<ReservationSession> {
    const { terms, hold } = await reserve(context);
    return new ReservationSession(context, terms, hold);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Charges for what was delivered; later calls change nothing. Resolves when the charge cannot be lost. */
  async settle(completion: Completion, built: BuiltCall, attempt: Attempt, tried: readonly Attempt[]): Promise<Usage> {
    if (this.#isClosed) return completion.usage ?? NO_USAGE;
    this.#isClosed = true;
    const usage = await this.#usageOf(completion);
    const quota = this.#due(usage, attempt, (error) =>
      this.#deps.onUncomputable(this.#request.id, this.#amount, error),
    );
    if (usage.reported) this.#deps.onDoubtfulUsage(this.#request, attempt.target, usage);
    await this.#deps.ledger.settle(this.#settlement(quota, { usage, completion, built, attempt, tried }));
    this.charged = { usage, quota, completion };
    return usage;
  }

  /** Releases the reservation: nothing was delivered. */
  async release(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#deps.ledger.release(this.#hold);
  }

  /** The client left before the answer began: nothing is owed, or the prompt where the operator wants that. */
  async abandon(attempt: Attempt | undefined): Promise<void> {
    const isOwed = this.#snapshot.options.BillAbortedPrompt && this.#price.kind === "tokens";
    if (!attempt || !isOwed) return this.release();
    const countOutput = () => Promise.resolve(0);
    await attempt.settle({ reason: "client_abort", usage: undefined, countOutput, firstContentAt: undefined });
  }

  /** What was charged; undefined until then. */
  charged: { readonly usage: Usage; readonly quota: Quota; readonly completion: Completion } | undefined;

  /** Records in the ledger what the request would cost if this process died now. Called every few seconds. */
  async renew(attempt?: Attempt, tried: readonly Attempt[] = []): Promise<void> {
    if (this.#isClosed) return;
    const seen = attempt && (await this.#seen(attempt, tried));
    if (this.#isClosed) return;
    await this.#deps.ledger.renew(
      this.#hold,
      seen?.settlement ?? { hold: this.#hold, quota: ZERO, channelId: 0, at: this.#deps.now() },
    );
  }

  /** Extends the reservation before the output reaches it; the upper estimate only says when to look closer. */
  progress(outputBound: () => number, attempt: Attempt, tried: readonly Attempt[]): void {
    const isCapped = this.outputCap !== undefined || this.#request.spec.outputCap !== undefined;
    if (this.#isExtending || this.#isClosed || isCapped) return;
    if (!isPriced({ price: this.#price, groupRatio: this.#groupRatio })) return;
    if (outputBound() < this.#reserved - LOOK_AHEAD) return;
    this.#isExtending = true;
    void this.#extend(attempt, tried)
      // The same failure is reported when the reservation is renewed or charged.
      .catch(() => undefined)
      .finally(() => {
        this.#isExtending = false;
      });
  }

  /**
   * A refused extension ends the stream shortly before the reservation is used up: of a hard budget always, of a balance
   * when the operator wants that.
   */
  async #extend(attempt: Attempt, tried: readonly Attempt[]): Promise<void> {
    const seen = await this.#seen(attempt, tried);
    if (!seen || seen.output < this.#reserved - LOOK_AHEAD) return;
    let refusal: "balance" | "budget" | undefined;
    for (const more of EXTEND_BY) {
      if (this.#isClosed) return;
      const target = seen.output + more;
      refusal = await this.#extendTo(target, seen.settlement);
      if (!refusal) {
        this.#reserved = Math.max(this.#reserved, target);
        return;
      }
    }
    const isUsedUp = seen.output >= this.#reserved - LAST_TOKENS;
    const ends = refusal === "budget" || this.#snapshot.options.StopStreamsOnEmptyBalance;
    if (isUsedUp && ends && !this.#isClosed) attempt.stop(new AppError("insufficient_quota"), "quota_exhausted");
  }

  /** To so many tokens of output; answers what cannot carry them. */
  async #extendTo(outputCap: number, seen: Settlement): Promise<"balance" | "budget" | undefined> {
    const ask = { ...this.#request.spec, outputCap };
    const terms = { price: this.#price, groupRatio: this.#groupRatio };
    const amount = estimateOf({ ...this.#request, spec: ask }, terms, this.#snapshot);
    if (this.extendBudgets && !(await this.extendBudgets(amount))) return "budget";
    if (!(await this.#deps.ledger.renew(this.#hold, seen, amount))) return "balance";
    this.#amount = amount;
    return undefined;
  }

  /** The settlement that would be due if the request ended now; undefined when nothing was delivered. */
  async #seen(
    attempt: Attempt,
    tried: readonly Attempt[],
  ): Promise<{ readonly settlement: Settlement; readonly output: number } | undefined> {
    const completion = attempt.soFar();
    if (!completion) return undefined;
    const usage = await this.#usageOf(completion);
    const quota = this.#due(usage, attempt);
    return {
      settlement: this.#settlement(quota, { usage, completion, built: undefined, attempt, tried }),
      output: usage.output,
    };
  }

  #settlement(quota: Quota, charged: Omit<Charged, "price" | "groupRatio" | "quota" | "reserved">): Settlement {
    const at = this.#deps.now();
    const settlement = { hold: this.#hold, quota, channelId: charged.attempt.target.channel.id, at };
    if (!this.#snapshot.options.LogConsumeEnabled) return settlement;
    const log: LogDetail = consumptionLog(this.#request, {
      ...charged,
      quota,
      price: this.#price,
      groupRatio: this.#ratioOf(charged.attempt),
      reserved: this.#amount,
    });
    return { ...settlement, log };
  }

  #due(usage: Usage, attempt: Served, onFailure?: (error: unknown) => void): Quota {
    const { spec } = this.#request;
    const surcharges = usage.toolCalls && toolSurcharges(usage.toolCalls, spec, this.#snapshot.prices);
    const terms = {
      groupRatio: this.#ratioOf(attempt),
      spec,
      quotaPerUnit: this.#quotaPerUnit,
      ...(surcharges && { surcharges }),
    };
    return dueOr(this.#amount, () => charge(usage, this.#price, terms), onFailure);
  }

  #ratioOf(attempt: Served): string {
    return this.#snapshot.prices.groupRatio(attempt.target.group);
  }

  /**
   * The upstream's usage as far as it can be true, counts where it is missing or says nothing was delivered. Texts that
   * cannot be counted cost what is known without them: a charge always succeeds.
   */
  async #usageOf(completion: Completion): Promise<Usage> {
    const usage = await this.#tokensOf(completion);
    return completion.toolCalls ? { ...usage, toolCalls: completion.toolCalls } : usage;
  }

  async #tokensOf(completion: Completion): Promise<Usage> {
    const usage = completion.usage ? this.#believed(completion.usage, completion) : lengthOf(this.#request);
    const tokens = usage.input + usage.output;
    const isComplete = completion.reason === "stop" && tokens > 0;
    const isByUnits = usage.units !== undefined && tokens === 0;
    if (isComplete || isByUnits || this.#price.kind === "call") return usage;
    const counted = await completion.countOutput().catch(() => 0);
    const output = Math.max(usage.output, Math.min(counted, MOST_TOKENS));
    const seen: Usage =
      usage.input > 0
        ? { ...usage, output, source: output === usage.output ? usage.source : "mixed" }
        : { ...usage, input: await this.#countInput(), output, source: "counted" };
    return this.#withUnseen(seen, completion);
  }

  /** A client that left cannot know what the model thought, and the vendor charges it: by the time that it took. */
  #withUnseen(usage: Usage, { unseenMs = 0 }: Completion): Usage {
    const byTime = Math.ceil((Math.max(0, unseenMs - USUAL_SILENCE_MS) / 1000) * THOUGHTS_PER_SECOND);
    const estimatedReasoning = Math.min(byTime, Math.max(0, this.#reserved - usage.output));
    if (estimatedReasoning === 0) return usage;
    const { output, reasoning } = usage;
    return {
      ...usage,
      output: output + estimatedReasoning,
      reasoning: reasoning + estimatedReasoning,
      estimatedReasoning,
      source: "mixed",
    };
  }

  #believed(usage: Usage, { bytes }: Completion): Usage {
    const { spec, upload } = this.#request;
    const ownCap = this.outputCap === undefined ? undefined : this.outputCap * (spec.answers ?? 1);
    const limits = this.#snapshot.prices.limits(spec.model);
    return boundUsage(usage, usageBounds({ spec, upload, limits, bytes, ownCap }));
  }

  #countInput(): Promise<number> {
    const { spec, body, dialect } = this.#request;
    this.#countedInput ??= countTexts(this.#deps.counter, spec.model, dialect.promptTexts(body)).catch(
      () => spec.promptEstimate,
    );
    return this.#countedInput;
  }
}

/** Silence before an answer that is no thought. */
const USUAL_SILENCE_MS = 2_000;
/** Tokens that a model thinks in a second; what the slower ones of the large vendors do. */
const THOUGHTS_PER_SECOND = 50;
/** No count is larger; what an encoder says of a text stays below it. */
const MOST_TOKENS = 1_000_000_000;

/** Of a text to be spoken, or a recording whose length is known; nothing of anything else. */
function lengthOf({ spec, upload }: RelayRequest): Usage {
  const units = spec.operation === "audio.speech" ? spec.units : upload?.seconds;
  return units === undefined ? NO_USAGE : { ...NO_USAGE, units };
}

export interface Reservation {
  readonly terms: Terms;
  readonly hold: Hold;
}

/**
 * Reserves the estimate, or what `exactly` says where the charge is known before. Throws `model_price_error`,
 * `insufficient_user_quota` or `insufficient_token_quota`.
 */
export async function reserve(
  { request, snapshot, groups, deps }: RequestContext,
  exactly?: (terms: Terms) => Quota,
): Promise<Reservation> {
  const terms = termsOf(request, snapshot, groups);
  const { caller } = request;
  const known = exactly?.(terms);
  const hold = await deps.ledger.hold({
    requestId: request.id,
    userId: caller.userId,
    tokenId: caller.tokenId,
    amount: known ?? estimateOf(request, terms, snapshot),
    ...(known === undefined && wishedFor(request, terms, snapshot)),
    isCharged: known === undefined ? isPriced(terms) : known > 0,
    ...grantOf(caller),
  });
  if (!isRefusal(hold)) return { terms, hold };
  throw new AppError(hold.refused === "user" ? "insufficient_user_quota" : "insufficient_token_quota", {
    values: { need: display(hold.needed, snapshot), have: display(hold.available, snapshot) },
  });
}

/** A token's limit is what its owner set; the ledger knows only what was used of it. */
export function grantOf(caller: Caller): Pick<HoldRequest, "grant" | "grantRevision"> {
  const { tokenId, isUnlimited, tokenGrant, tokenRevision: grantRevision = 0 } = caller;
  if (tokenId === 0) return {};
  if (isUnlimited) return { grant: "unlimited", grantRevision };
  return tokenGrant === undefined ? {} : { grant: toQuota(tokenGrant), grantRevision };
}

function display(amount: Quota, snapshot: Snapshot): string {
  const { DisplayInCurrencyEnabled, QuotaPerUnit } = snapshot.options;
  return DisplayInCurrencyEnabled ? `$${(amount / Number(QuotaPerUnit)).toFixed(6)}` : String(amount);
}
