import type { Budgets } from "../../billing/budgets/budgets.ts";
import type { BudgetRefusal } from "../../billing/budgets/budget.ts";
import type { Quota } from "../../billing/money/quota.ts";
import type { Caller } from "../../identity/authentication/caller.ts";
import { listedName } from "../../billing/pricing/listed-name.ts";
import { AppError } from "../../lib/app-error.ts";
import type { Claims, Used } from "../../limits/claims.ts";
import { channelLimits, limitsRequests } from "../../limits/request-limits.ts";
import type { Metrics } from "../../observability/metrics.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import { unavailable } from "../selection/unavailable.ts";
import type { AdmissionQueue } from "./admission-queue.ts";
import { overBudget } from "./over-budget.ts";
import type { AdmissionRequest, ClientConnection } from "./admission-request.ts";
import { RequestBudgets, buildBudgetSubjects, type BudgetAmounts } from "./request-budgets.ts";
import type { CallLimit } from "./call-limit.ts";
import type { Candidate, Candidates } from "./candidates.ts";
import type { LimitScope } from "../selection/types.ts";
import { ChannelWait } from "./channel-wait.ts";
import { ClaimedLimits } from "./claimed-limits.ts";

const RETRY_SECONDS = 5;

export interface AdmissionDeps {
  readonly claims: Claims;
  readonly budgets: Budgets;
  readonly queue: AdmissionQueue;
  readonly calls: CallLimit;
  readonly metrics: Pick<Metrics, "limited" | "queued">;
  /** Throws for a caller who has waited and is no longer allowed. */
  readonly recheck: (caller: Caller) => Promise<void>;
}

/** The needs of one call of `enter`, in addition to its candidates. */
interface EnterContext {
  readonly client: ClientConnection;
  readonly budgetAmounts: () => BudgetAmounts;
}

/** The result for one candidate; a scope is the limit that it has reached. */
type EnterResult = "entered" | "over_budget" | LimitScope;

/** True if any request is limited; computed once per snapshot. */
const limited = new WeakMap<Snapshot, boolean>();

/** Undefined if no limit or budget can apply, so that such requests have no extra cost. */
export function admissionFor(
  request: AdmissionRequest,
  snapshot: Snapshot,
  deps: AdmissionDeps,
): AdmissionController | undefined {
  const { caller } = request;
  const isNamed =
    caller.tokenLimits !== undefined ||
    caller.userLimits !== undefined ||
    caller.memberLimits !== undefined ||
    (caller.tagLimits !== undefined && request.tags !== undefined);
  if (isNamed || mayBeBudgeted(request, deps.budgets)) return new AdmissionController(request, snapshot, deps);
  let isLimited = limited.get(snapshot);
  if (isLimited === undefined) {
    isLimited = limitsRequests(snapshot.options) || [...snapshot.channels.values()].some(channelLimits);
    limited.set(snapshot, isLimited);
  }
  return isLimited ? new AdmissionController(request, snapshot, deps) : undefined;
}

function mayBeBudgeted({ caller, spec: { model }, tags }: AdmissionRequest, budgets: Budgets): boolean {
  const { tokenId, userId, team } = caller;
  return !budgets.isEmpty && budgets.mayConcern({ tokenId, userId, model: listedName(model), team, tags });
}

/** Admits one request to a channel: its limits, its budgets, and the wait while channels are at their limits. */
export class AdmissionController {
  #request: AdmissionRequest;
  readonly #deps: AdmissionDeps;
  readonly #limits: ClaimedLimits;
  readonly #budgets: RequestBudgets;
  #wait: ChannelWait;
  readonly #startWait: () => ChannelWait;
  /** The refusal of the last channel, if waiting would not help. */
  #refusal: AppError | undefined;

  constructor(request: AdmissionRequest, snapshot: Snapshot, deps: AdmissionDeps) {
    this.#request = request;
    this.#deps = deps;
    this.#limits = new ClaimedLimits(request, snapshot.options, deps);
    this.#budgets = new RequestBudgets(request.id, deps.budgets);
    this.#startWait = () => new ChannelWait(deps.queue, request.caller.userId, snapshot.options);
    this.#wait = this.#startWait();
  }

  /** The limit that the last candidate had reached. */
  get full(): LimitScope {
    return this.#limits.full;
  }

  /**
   * Takes the limits with the first channel that has room; waits for one if none has. Throws 429 with the limit that is
   * reached; returns undefined if there is no candidate.
   */
  async enter<R extends Candidate>(
    first: R | undefined,
    candidates: Candidates<R>,
    context: EnterContext,
  ): Promise<R | undefined> {
    if (!first) return undefined;
    const { client } = context;
    this.#wait.begin();
    const onClose = () => this.giveUp(new AppError("client_closed_request"));
    client.once("close", onClose);
    let entered: R | undefined;
    try {
      entered = await this.#enterOrWait(first, candidates, context);
      if (this.#wait.hasQueued) await this.#deps.recheck(this.#request.caller);
      return entered;
    } finally {
      client.off("close", onClose);
      if (this.#wait.hasQueued) this.#endWait((entered ?? first).channel.id);
    }
  }

  /**
   * The request continues as `next`, which names another model and which `enter` admits; the limits of its caller stay
   * claimed.
   */
  changeModel(next: AdmissionRequest): void {
    this.#request = next;
    this.#limits.changeModel(next);
    this.#wait = this.#startWait();
    this.#refusal = undefined;
  }

  /** Ends the wait for a channel; a request that was admitted already continues. */
  giveUp(reason: unknown): void {
    this.#wait.giveUp(reason);
  }

  /** Releases the place in the previous channel for a further attempt. False if the new channel has no room. */
  async move(candidate: Candidate): Promise<boolean> {
    if (!(await this.#limits.move(candidate))) return false;
    if (!(await this.#budgets.move(this.#subjects(candidate)))) return true;
    this.#limits.releaseChannel();
    return false;
  }

  /** How much of the request the budgets cover; undefined if nothing is reserved in any. */
  get budgeted(): Quota | undefined {
    return this.#budgets.carried;
  }

  /** Returns what is reserved in budgets beyond `amount`. Not awaited. */
  shrink(amount: Quota): void {
    const { candidate } = this.#limits;
    if (candidate) this.#budgets.shrink(this.#subjects(candidate), amount);
  }

  /** Raises the budget reservation of a running answer; false if a hard budget cannot cover it. Never rejects. */
  async extend(amount: Quota): Promise<boolean> {
    const { candidate } = this.#limits;
    if (!candidate || (await this.#budgets.extend(this.#subjects(candidate), amount))) return true;
    if (this.#budgets.usedUp) this.#request.progress.exhausted(this.#budgets.usedUp);
    return false;
  }

  /** Reports what a long conversation has used so far; returns the refusal if that exceeds a limit. */
  spend(tokens: number): Promise<AppError | undefined> {
    return this.#limits.spend(tokens);
  }

  /** Counts a further answer of a long conversation as a request; returns the refusal if a limit does not allow it. */
  again(): Promise<AppError | undefined> {
    return this.#limits.again();
  }

  renew(): Promise<void> {
    return this.#limits.renew();
  }

  /** Reports what the request used; its charge is in the ledger already. Not awaited. */
  end(used: Used): void {
    const { candidate, isEnded } = this.#limits;
    if (isEnded) return;
    if (candidate) this.#budgets.end(this.#subjects(candidate));
    this.#limits.end(used);
  }

  async #enterOrWait<R extends Candidate>(first: R, candidates: Candidates<R>, context: EnterContext): Promise<R> {
    for (let candidate = first; ;) {
      const { entered, full } = await this.#enterFirst(candidate, candidates, context);
      if (entered) return entered;
      if (full.size === 0 && this.#refusal) throw this.#refusal;
      if (context.client.closed) throw new AppError("client_closed_request");
      if (!(await this.#wait.turn(full))) break;
      const again = candidates.reopen();
      if (!again) throw unavailable([first.group], this.#request.spec.model);
      candidate = again;
    }
    const { entered } = await this.#enterFirst(candidates.lastResort(), candidates, context);
    if (!entered) throw this.#allFull(first);
    return entered;
  }

  /** Skips full candidates; if none has room, returns the channels to wait for. */
  async #enterFirst<R extends Candidate>(
    first: R | undefined,
    candidates: Candidates<R>,
    context: EnterContext,
  ): Promise<{ readonly entered?: R; readonly full: ReadonlySet<number> }> {
    const full = new Set<number>();
    for (let candidate = first; candidate; candidate = candidates.next()) {
      const result = await this.#tryEnter(candidate, context);
      if (result === "entered") return { entered: candidate, full };
      if (result !== "over_budget") full.add(candidate.channel.id);
      candidates.full(candidate, result === "over_budget" ? "channel" : result);
    }
    return { full };
  }

  /** Checks limits and budgets at the same time, so that both cost one round trip. Limits decide first. */
  async #tryEnter(candidate: Candidate, { client, budgetAmounts }: EnterContext): Promise<EnterResult> {
    this.#refusal = undefined;
    if (this.#wait.isBehindOthers(candidate.channel.id) && this.#limits.limits(candidate)) return "channel";
    const reserving = this.#budgets.reserve(this.#subjects(candidate), budgetAmounts);
    if (!reserving) return (await this.#limits.take(candidate, client)) ? "entered" : this.full;
    const [taken, reserved] = await Promise.allSettled([this.#limits.take(candidate, client), reserving]);
    if (taken.status === "rejected") throw taken.reason;
    if (!taken.value) return this.full;
    if (reserved.status === "rejected") throw reserved.reason;
    if (!reserved.value) return "entered";
    this.#skipOverBudget(reserved.value);
    return "over_budget";
  }

  /** Leaves a channel whose own budget is used up; throws for every other budget. */
  #skipOverBudget(refusal: BudgetRefusal): void {
    this.#refusal = overBudget(refusal);
    this.#request.progress.exhausted(refusal.budget);
    if (refusal.budget.scope !== "channel") throw this.#refusal;
    this.#limits.releaseChannel();
  }

  #endWait(channelId: number): void {
    const ms = this.#wait.end(channelId);
    this.#request.progress.leftQueue(ms);
    this.#deps.metrics.queued(channelId, ms / 1000);
  }

  #subjects(candidate: Candidate) {
    return buildBudgetSubjects(this.#request, candidate);
  }

  #allFull({ group }: Candidate): AppError {
    this.#request.progress.reachedLimit("channel");
    const { model } = this.#request.spec;
    return new AppError("concurrency_limit_exceeded", {
      message: `All channels for ${model} in group ${group} are at their limits; retry after ${RETRY_SECONDS} s.`,
      retryAfterMs: RETRY_SECONDS * 1000,
    });
  }
}
