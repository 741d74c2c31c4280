import type { Budgets } from "../../billing/budgets/budgets.ts";
import type { BudgetRefusal, BudgetTerms } from "../../billing/budgets/budget.ts";
import type { Quota } from "../../billing/money/quota.ts";
import type { RequestSpec, Dialect } from "../../dialects/core/types.ts";
import type { Caller } from "../../identity/sessions/caller.ts";
import { AppError } from "../../lib/app-error.ts";
import { isTokens, LONG_AGO, type Claim, type Claims, type TakenAt, type Used } from "../../limits/claims.ts";
import {
  channelClaims,
  channelLimits,
  groupClaims,
  limitsRequests,
  requestClaims,
} from "../../limits/request-limits.ts";
import type { Metrics } from "../../observability/metrics.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import type { AdmissionQueue, QueuePosition } from "./admission-queue.ts";
import type { CallLimit } from "./call-limit.ts";
import { RequestBudgets, subjectsOf, type BudgetAsk } from "./budget-check.ts";
import { overBudget, refusalOf, tell } from "./admission-refusal.ts";
import type { LimitScope, Candidate, Candidates } from "./candidates.ts";
import { unavailable } from "../ingress/unavailable.ts";

export interface AdmissionDeps {
  readonly claims: Claims;
  readonly budgets: Budgets;
  readonly queue: AdmissionQueue;
  readonly calls: CallLimit;
  readonly metrics: Pick<Metrics, "limited" | "queued">;
  /** Throws for a caller who has waited and is no longer allowed. */
  readonly recheck: (caller: Caller) => Promise<void>;
}

/** Any request that uses an upstream. */
export interface AdmissionRequest {
  readonly id: string;
  readonly caller: Caller;
  readonly spec: Pick<RequestSpec, "model" | "promptEstimate" | "outputCap">;
  /** The caller's protocol; some have headers of their own for limits. */
  readonly dialect?: Pick<Dialect, "errors">;
  /** Milliseconds that it waited for a channel; set when it left the queue. */
  queueMs?: number;
  /** Set once the limits of the caller have been asked. */
  isCounted?: boolean;
  /** The budget that refused it last, for the log. */
  usedUp?: BudgetTerms | "balance";
}

/** The response of a request: it may close while the request waits, and carries the headers of its limits. */
export interface ClientConnection {
  readonly closed: boolean;
  readonly headersSent: boolean;
  setHeader(name: string, value: string): unknown;
  once(event: "close", listener: () => void): unknown;
  off(event: "close", listener: () => void): unknown;
}

/** True when any request is limited; computed once per snapshot. */
const limited = new WeakMap<Snapshot, boolean>();

/** Undefined when no limit or budget can apply, so that such requests have no extra cost. */
export function admissionFor(
  request: AdmissionRequest,
  snapshot: Snapshot,
  deps: AdmissionDeps,
): AdmissionController | undefined {
  const { caller } = request;
  const isNamed = caller.tokenLimits !== undefined || caller.userLimits !== undefined;
  if (isNamed || mayBeBudgeted(request, deps.budgets)) return new AdmissionController(request, snapshot, deps);
  let isLimited = limited.get(snapshot);
  if (isLimited === undefined) {
    isLimited = limitsRequests(snapshot.options) || [...snapshot.channels.values()].some(channelLimits);
    limited.set(snapshot, isLimited);
  }
  return isLimited ? new AdmissionController(request, snapshot, deps) : undefined;
}

function mayBeBudgeted({ caller: { tokenId, userId }, spec: { model } }: AdmissionRequest, budgets: Budgets): boolean {
  return !budgets.isEmpty && budgets.mayConcern({ tokenId, userId, model });
}

/** The limits that one request takes: those of its caller and of the channel in a single step. */
export class AdmissionController {
  readonly #request: AdmissionRequest;
  readonly #snapshot: Snapshot;
  readonly #deps: AdmissionDeps;
  /** Upper estimate of prompt and answer. */
  readonly #tokens: number;
  #ofRequest: readonly Claim[] = [];
  #ofChannel: readonly Claim[] = [];
  #candidate: Candidate | undefined;
  /** The group whose limits the request took first. */
  #group = "";
  /** Why the last channel had no room, when waiting would not help. */
  #refusal: AppError | undefined;
  /** The limit that the last candidate had reached. */
  full: LimitScope = "channel";
  readonly #budgets: RequestBudgets;
  /** In the queue of a channel. */
  #place: QueuePosition | undefined;
  /** Why the wait was ended. */
  #givenUp: { readonly reason: unknown } | undefined;
  #takenAt = LONG_AGO;
  #channelTakenAt = LONG_AGO;
  /** The caller's limits are taken; they are held until the request ends. */
  #hasCounted = false;
  #isEnded = false;

  constructor(request: AdmissionRequest, snapshot: Snapshot, deps: AdmissionDeps) {
    this.#request = request;
    this.#snapshot = snapshot;
    this.#deps = deps;
    this.#budgets = new RequestBudgets(request.id, deps.budgets);
    this.#tokens = request.spec.promptEstimate + (request.spec.outputCap ?? snapshot.options.DefaultOutputTokens);
  }

  /**
   * Takes the limits with the first channel that has room; waits for one when none has. Throws 429 with the limit that
   * is reached; returns undefined when there is no candidate.
   */
  async enter<R extends Candidate>(
    first: R | undefined,
    candidates: Candidates<R>,
    { client, ask }: { readonly client: ClientConnection; readonly ask: () => BudgetAsk },
  ): Promise<R | undefined> {
    if (!first) return undefined;
    const since = performance.now();
    const onClose = () => this.giveUp(new AppError("client_closed_request"));
    client.once("close", onClose);
    let entered: R | undefined;
    try {
      entered = await this.#findRoom(first, candidates, { client, ask, since });
      if (this.#place) await this.#deps.recheck(this.#request.caller);
      return entered;
    } finally {
      client.off("close", onClose);
      if (this.#place) this.#queued(this.#place, (entered ?? first).channel.id, since);
    }
  }

  async #findRoom<R extends Candidate>(first: R, candidates: Candidates<R>, asked: Asked): Promise<R> {
    for (let room = first; ;) {
      const { entered, full } = await this.#firstWithRoom(room, candidates, asked);
      if (entered) return entered;
      if (full.size === 0 && this.#refusal) throw this.#refusal;
      if (asked.client.closed) throw new AppError("client_closed_request");
      if (!(await this.#waited(full, asked.since))) break;
      const again = candidates.reopen();
      if (!again) throw unavailable([first.group], this.#request.spec.model);
      room = again;
    }
    const { entered } = await this.#firstWithRoom(candidates.lastResort(), candidates, asked);
    if (!entered) throw this.#allFull(first);
    return entered;
  }

  /** Skips full candidates; when none has room, returns the channels to wait for. */
  async #firstWithRoom<R extends Candidate>(
    first: R | undefined,
    candidates: Candidates<R>,
    { client, ask }: Asked,
  ): Promise<{ readonly entered?: R; readonly full: ReadonlySet<number> }> {
    const full = new Set<number>();
    for (let room = first; room; room = candidates.next()) {
      const [hasRoom, isCarried] = await this.#enters(room, client, ask);
      if (hasRoom && isCarried) return { entered: room, full };
      if (!hasRoom) full.add(room.channel.id);
      candidates.full(room, this.full);
    }
    return { full };
  }

  /** Limits and budgets at the same time, so that both cost one round trip. Limits decide first. */
  async #enters(room: Candidate, client: ClientConnection, ask: () => BudgetAsk): Promise<readonly [boolean, boolean]> {
    this.#refusal = undefined;
    this.full = "channel";
    if (this.#isWaitedFor(room)) return [false, false];
    const reserving = this.#budgets.reserve(this.#subjects(room), ask);
    if (!reserving) return [await this.#takes(room, client), true];
    const [taken, reserved] = await Promise.allSettled([this.#takes(room, client), reserving]);
    if (taken.status === "rejected") throw taken.reason;
    if (!taken.value) return [false, false];
    if (reserved.status === "rejected") throw reserved.reason;
    return [true, !reserved.value || this.#skips(reserved.value)];
  }

  #isWaitedFor({ channel, keyIndex }: Candidate): boolean {
    const isTurn = this.#place?.isIn(channel.id) === true;
    const isLimited = channelClaims(channel, keyIndex, this.#tokens).length > 0;
    return isLimited && !isTurn && this.#deps.queue.isWaitedFor(channel.id);
  }

  /** Ends the wait for a channel; a request that was admitted already continues. */
  giveUp(reason: unknown): void {
    this.#givenUp ??= { reason };
    this.#place?.leave();
  }

  /** For a further attempt: releases the place in the previous channel. False when the new one has no room. */
  async move(candidate: Candidate): Promise<boolean> {
    if (!(await this.#movesClaims(candidate))) return false;
    if (!(await this.#budgets.move(this.#subjects(candidate)))) return true;
    this.#release(this.#ofChannel, this.#channelTakenAt, NOT_USED);
    this.#ofChannel = [];
    return false;
  }

  /** What budgets carry of the request; undefined when nothing is reserved in any. */
  get budgeted(): Quota | undefined {
    return this.#budgets.carried;
  }

  /** Returns what is reserved in budgets beyond `amount`. Not awaited. */
  shrink(amount: Quota): void {
    if (this.#candidate) this.#budgets.shrink(this.#subjects(this.#candidate), amount);
  }

  /** Raises the budget reservation of a running answer; false when a hard budget cannot cover it. Never rejects. */
  async extend(amount: Quota): Promise<boolean> {
    if (!this.#candidate || (await this.#budgets.extend(this.#subjects(this.#candidate), amount))) return true;
    if (this.#budgets.usedUp) this.#request.usedUp = this.#budgets.usedUp;
    return false;
  }

  async #movesClaims(candidate: Candidate): Promise<boolean> {
    this.full = "channel";
    const { GroupLimits } = this.#snapshot.options;
    const ofGroup = candidate.group === this.#group ? [] : groupClaims(candidate.group, GroupLimits, this.#tokens);
    const claims = [...ofGroup, ...channelClaims(candidate.channel, candidate.keyIndex, this.#tokens)];
    this.#release(this.#ofChannel, this.#channelTakenAt, NOT_USED);
    this.#ofChannel = [];
    this.#candidate = candidate;
    if (claims.length === 0) return true;
    const answer = await this.#deps.claims.take(this.#request.id, claims);
    if (answer.taken) [this.#ofChannel, this.#channelTakenAt] = [claims, answer.at];
    else this.#isFull(answer.state.claim);
    return answer.taken;
  }

  /**
   * Reports what a long conversation has used so far. Tokens beyond the estimate count in the window of their use;
   * returns the refusal when they exceed a limit.
   */
  async spend(tokens: number): Promise<AppError | undefined> {
    const isMore = (claim: Claim) => isTokens(claim) && tokens > claim.amount;
    const more = [...this.#ofRequest, ...this.#ofChannel].filter(isMore);
    if (more.length === 0 || this.#isEnded) return undefined;
    const counted = (claim: Claim) => (isMore(claim) ? { ...claim, amount: tokens } : claim);
    const asked = this.#ofRequest.filter(isMore).map((claim) => ({ ...claim, amount: 0 }));
    [this.#ofRequest, this.#ofChannel] = [this.#ofRequest.map(counted), this.#ofChannel.map(counted)];
    await this.#deps.claims.correct(more, LONG_AGO, { tokens, isSuccess: true });
    if (asked.length === 0) return undefined;
    // While limits cannot be checked, running requests continue.
    const answer = await this.#deps.claims.take(this.#request.id, asked).catch(() => undefined);
    return answer?.taken === false ? refusalOf(answer.state) : undefined;
  }

  async renew(): Promise<void> {
    await this.#deps.claims.renew(this.#request.id, [...this.#ofRequest, ...this.#ofChannel]);
  }

  /** Reports what the request used; its charge is in the ledger already. Not awaited. */
  end(used: Used): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (this.#candidate) this.#budgets.end(this.#subjects(this.#candidate));
    this.#releaseAll(used);
  }

  #releaseAll(used: Used): void {
    this.#release(this.#ofRequest, this.#takenAt, used);
    this.#release(this.#ofChannel, this.#channelTakenAt, used);
    this.#ofRequest = this.#ofChannel = [];
  }

  #release(claims: readonly Claim[], takenAt: TakenAt, used: Used): void {
    if (claims.length === 0) return;
    const { queue } = this.#deps;
    const channelId = this.#candidate?.channel.id;
    void this.#deps.claims.correct(claims, takenAt, used);
    void this.#deps.claims.release(this.#request.id, claims).then(() => {
      if (channelId !== undefined) queue.freed(channelId);
    });
  }

  async #takes(candidate: Candidate, client: ClientConnection): Promise<boolean> {
    const { id, caller } = this.#request;
    const { claims } = this.#deps;
    const ofChannel = channelClaims(candidate.channel, candidate.keyIndex, this.#tokens);
    // The budget of an earlier channel refused the request after its caller was counted.
    if (this.#hasCounted) return this.#movesClaims(candidate);
    this.#candidate = candidate;
    const { tokenLimits, userLimits } = caller;
    const subjects = { ...this.#subjects(candidate), tokenLimits, userLimits, tokens: this.#tokens };
    const ofRequest = requestClaims(subjects, this.#snapshot.options);
    this.#request.isCounted = true;
    if (ofRequest.length + ofChannel.length === 0) {
      this.#group = candidate.group;
      this.#hasCounted = true;
      return true;
    }
    const answer = await claims.take(id, [...ofRequest, ...ofChannel]);
    if (answer.taken) {
      [this.#ofRequest, this.#ofChannel, this.#group] = [ofRequest, ofChannel, candidate.group];
      this.#takenAt = this.#channelTakenAt = answer.at;
      this.#hasCounted = true;
      tell(client, answer.states.slice(0, ofRequest.length), this.#request.dialect);
      return true;
    }
    const { state } = answer;
    this.#deps.metrics.limited(state.claim.scope, state.claim.kind);
    if (this.#isFull(state.claim)) return false;
    this.#deps.calls.refused(caller.userId, state);
    throw refusalOf(state);
  }

  /** Whether a limit belongs to the candidate, and which one is full. */
  #isFull({ scope }: Claim): boolean {
    this.full = scope === "key" ? "key" : "channel";
    return scope === "key" || scope === "channel";
  }

  /** False for a channel whose own budget is used up; throws for every other budget. */
  #skips(refusal: BudgetRefusal): false {
    this.#refusal = overBudget(refusal);
    this.#request.usedUp = refusal.budget;
    if (refusal.budget.scope !== "channel") throw this.#refusal;
    this.#release(this.#ofChannel, this.#channelTakenAt, NOT_USED);
    this.#ofChannel = [];
    return false;
  }

  #subjects(candidate: Candidate) {
    return subjectsOf(this.#request, candidate);
  }

  /** False when the request has waited long enough, or the queue is full. */
  async #waited(full: ReadonlySet<number>, since: number): Promise<boolean> {
    const { ChannelQueueLength, ChannelQueueSeconds } = this.#snapshot.options;
    const { queue } = this.#deps;
    this.#place ??= queue.join(full, this.#request.caller.userId, ChannelQueueLength);
    const left = ChannelQueueSeconds * 1000 - (performance.now() - since);
    const isTurn = this.#place && left > 0 && !this.#givenUp && (await this.#place.turn(left));
    if (this.#givenUp) throw this.#givenUp.reason;
    return isTurn === true;
  }

  #allFull({ group }: Candidate): AppError {
    const { model } = this.#request.spec;
    return new AppError("concurrency_limit_exceeded", {
      message: `All channels for ${model} in group ${group} are at their limits; retry after ${RETRY_SECONDS} s.`,
      retryAfterMs: RETRY_SECONDS * 1000,
    });
  }

  #queued(place: QueuePosition, channelId: number, since: number): void {
    place.leave();
    // The next request in the queue checks at once whether a place is left.
    this.#deps.queue.freed(channelId);
    const ms = performance.now() - since;
    this.#request.queueMs = Math.round(ms);
    this.#deps.metrics.queued(channelId, ms / 1000);
  }
}

/** The parameters of a search for a candidate. */
interface Asked {
  readonly client: ClientConnection;
  readonly ask: () => BudgetAsk;
  /** When the search began, in milliseconds of the monotonic clock. */
  readonly since: number;
}

const NOT_USED: Used = { tokens: 0, isSuccess: false };
/** Nothing came of the request. */
export const NOTHING_USED = NOT_USED;
const RETRY_SECONDS = 5;

/** Takes limits and money at the same time; when one is refused, the other is released. */
export async function openWithin<R extends Candidate, M>(
  admission: AdmissionController,
  entering: Promise<R | undefined>,
  opening: Promise<M>,
  release: (money: M) => Promise<void>,
): Promise<{ readonly first: R | undefined; readonly money: M }> {
  // A request that cannot be paid stops waiting.
  opening.catch((reason: unknown) => admission.giveUp(reason));
  const [entered, opened] = await Promise.allSettled([entering, opening]);
  if (entered.status === "fulfilled" && opened.status === "fulfilled")
    return { first: entered.value, money: opened.value };
  admission.end(NOTHING_USED);
  if (opened.status === "fulfilled") await release(opened.value);
  throw entered.status === "rejected" ? entered.reason : (opened as PromiseRejectedResult).reason;
}
