import type { ServerResponse } from "node:http";
import { channelClaims, channelLimits, limitsRequests, requestClaims } from "../limits/request-limits.ts";
import type { BudgetRefusal, Budgets } from "../billing/budgets.ts";
import type { Quota } from "../billing/quota.ts";
import type { Claim, Claims, ClaimState } from "../limits/claims.ts";
import { AppError } from "../lib/app-error.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { Snapshot } from "../snapshot/types.ts";
import type { Admission, Place } from "./admission.ts";
import type { Choice, Selection } from "./select.ts";
import type { RelayRequest } from "./types.ts";

export interface GateDeps {
  readonly claims: Claims;
  readonly budgets: Budgets;
  readonly admission: Admission;
  readonly metrics: Pick<Metrics, "limited" | "queued">;
}

/** True when somebody's requests are limited; asked once for each snapshot. */
const limited = new WeakMap<Snapshot, boolean>();

/** Undefined when neither a limit nor a budget is configured: such requests pay nothing for the possibility. */
export function gateFor(request: RelayRequest, snapshot: Snapshot, deps: GateDeps): Gate | undefined {
  if (!deps.budgets.isEmpty) return new Gate(request, snapshot, deps);
  let isLimited = limited.get(snapshot);
  if (isLimited === undefined) {
    isLimited = limitsRequests(snapshot.options) || [...snapshot.channels.values()].some(channelLimits);
    limited.set(snapshot, isLimited);
  }
  return isLimited ? new Gate(request, snapshot, deps) : undefined;
}

/** The limits that one request takes: of whoever asks and of the channel together, all at once. */
export class Gate {
  readonly #request: RelayRequest;
  readonly #snapshot: Snapshot;
  readonly #deps: GateDeps;
  /** Upper estimate of prompt and answer. */
  readonly #tokens: number;
  #ofRequest: readonly Claim[] = [];
  #ofChannel: readonly Claim[] = [];
  #channel: Choice | undefined;
  /** Why the last channel had no room, when waiting would not help. */
  #refusal: AppError | undefined;
  #isReserved = false;
  #takenAt = 0;
  #channelTakenAt = 0;
  #isEnded = false;

  constructor(request: RelayRequest, snapshot: Snapshot, deps: GateDeps) {
    this.#request = request;
    this.#snapshot = snapshot;
    this.#deps = deps;
    this.#tokens = request.ask.promptEstimate + (request.ask.outputCap ?? snapshot.options.DefaultOutputTokens);
  }

  /**
   * Takes the limits with the first channel that has room; waits for one when none has. Throws 429 with the limit that
   * is reached; answers undefined when there is nothing to choose.
   */
  async enter(
    first: Choice | undefined,
    selection: Selection,
    { response, amount }: { readonly response: ServerResponse; readonly amount: () => Quota },
  ): Promise<Choice | undefined> {
    if (!first) return undefined;
    let place: Place | undefined;
    let full = first;
    const since = performance.now();
    const onClose = () => place?.leave();
    response.once("close", onClose);
    try {
      for (let choice: Choice | undefined = first; ; choice = selection.reopen()) {
        for (; choice; choice = selection.next()) {
          const hasRoom = await this.#takes(choice, place !== undefined, response);
          if (hasRoom && (await this.#reserves(choice, amount))) return choice;
          full = choice;
          selection.full(choice);
        }
        place = await this.#wait(place, full, since);
        if (response.closed) throw new AppError("client_closed_request");
      }
    } finally {
      response.off("close", onClose);
      if (place) this.#queued(place, full.channel.id, since);
    }
  }

  /** For a further attempt: the place in the channel before is given back. False when the new one has no room. */
  async move(choice: Choice): Promise<boolean> {
    const claims = channelClaims(choice.channel, choice.keyIndex, this.#tokens);
    this.#giveBack(this.#ofChannel, this.#channelTakenAt, 0);
    this.#ofChannel = [];
    this.#channel = choice;
    if (claims.length === 0) return true;
    const answer = await this.#deps.claims.take(this.#request.id, claims);
    if (answer.taken) [this.#ofChannel, this.#channelTakenAt] = [claims, answer.at];
    return answer.taken;
  }

  async renew(): Promise<void> {
    const { claims, budgets } = this.#deps;
    const { id } = this.#request;
    if (this.#isReserved) await budgets.renew(id);
    await claims.renew(id, [...this.#ofRequest, ...this.#ofChannel]);
  }

  /** What was really used. Nobody waits for this. */
  end({ tokens, quota }: { readonly tokens: number; readonly quota: Quota }): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (this.#isReserved && this.#channel)
      void this.#deps.budgets.settle(this.#request.id, this.#subjects(this.#channel), quota);
    this.#giveBackAll(tokens);
  }

  #giveBackAll(tokens: number): void {
    this.#giveBack(this.#ofRequest, this.#takenAt, tokens);
    this.#giveBack(this.#ofChannel, this.#channelTakenAt, tokens);
    this.#ofRequest = this.#ofChannel = [];
  }

  #giveBack(claims: readonly Claim[], takenAt: number, tokens: number): void {
    if (claims.length === 0) return;
    const { admission } = this.#deps;
    const channelId = this.#channel?.channel.id;
    void this.#deps.claims.correct(claims, takenAt, tokens);
    void this.#deps.claims.release(this.#request.id, claims).then(() => {
      if (channelId !== undefined) admission.freed(channelId);
    });
  }

  async #takes(choice: Choice, isTurn: boolean, response: ServerResponse): Promise<boolean> {
    const { id } = this.#request;
    const { claims, admission } = this.#deps;
    this.#refusal = undefined;
    this.#channel = choice;
    const ofChannel = channelClaims(choice.channel, choice.keyIndex, this.#tokens);
    if (ofChannel.length > 0 && !isTurn && admission.isWaitedFor(choice.channel.id)) return false;
    const ofRequest = requestClaims({ ...this.#subjects(choice), tokens: this.#tokens }, this.#snapshot.options);
    if (ofRequest.length + ofChannel.length === 0) return true;
    const answer = await claims.take(id, [...ofRequest, ...ofChannel]);
    if (answer.taken) {
      [this.#ofRequest, this.#ofChannel] = [ofRequest, ofChannel];
      this.#takenAt = this.#channelTakenAt = answer.at;
      tellLimits(response, answer.states.slice(0, ofRequest.length));
      return true;
    }
    const { state } = answer;
    this.#deps.metrics.limited(state.claim.scope, state.claim.kind);
    if (isOfChannel(state.claim)) return false;
    tellLimits(response, [state]);
    throw refusalOf(state);
  }

  /** Budgets after limits: a budget costs a transaction. What one refuses the other gives back. */
  async #reserves(choice: Choice, amount: () => Quota): Promise<boolean> {
    const { budgets } = this.#deps;
    if (budgets.isEmpty) return true;
    const refusal = await budgets.reserve(this.#request.id, this.#subjects(choice), amount());
    this.#isReserved = refusal === undefined;
    if (!refusal) return true;
    this.#giveBackAll(0);
    const error = overBudget(refusal);
    if (refusal.budget.scope !== "channel") throw error;
    this.#refusal = error;
    return false;
  }

  #subjects({ channel, group }: Choice) {
    const { caller, ask } = this.#request;
    return { tokenId: caller.tokenId, userId: caller.userId, group, model: ask.model, channelId: channel.id };
  }

  /** In the queue of a channel that is full, until this request's turn. */
  async #wait(known: Place | undefined, { channel, group }: Choice, since: number): Promise<Place> {
    if (this.#refusal) throw this.#refusal;
    const { ChannelQueueLength, ChannelQueueSeconds } = this.#snapshot.options;
    const { caller, ask } = this.#request;
    const place = known ?? this.#deps.admission.join(channel.id, caller.userId, ChannelQueueLength);
    const left = ChannelQueueSeconds * 1000 - (performance.now() - since);
    if (place && left > 0 && (await place.turn(left))) return place;
    place?.leave();
    throw new AppError("concurrency_limit_exceeded", {
      message: `All channels for ${ask.model} in group ${group} are at their limits; retry after ${RETRY_SECONDS} s.`,
      retryAfterMs: RETRY_SECONDS * 1000,
    });
  }

  #queued(place: Place, channelId: number, since: number): void {
    place.leave();
    const ms = performance.now() - since;
    this.#request.queueMs = Math.round(ms);
    this.#deps.metrics.queued(channelId, ms / 1000);
  }
}

const RETRY_SECONDS = 5;

function isOfChannel({ scope }: Claim): boolean {
  return scope === "channel" || scope === "key";
}

const UNITS = {
  requests: "requests per minute",
  tokens: "tokens per minute",
  concurrency: "requests at once",
} as const;

function refusalOf({ claim, used, resetMs }: ClaimState): AppError {
  const seconds = Math.max(1, Math.ceil(resetMs / 1000));
  const code = claim.kind === "concurrency" ? "concurrency_limit_exceeded" : "rate_limit_exceeded";
  const whom = claim.scope === "group" || claim.scope === "model" ? `${claim.scope} ${claim.subject}` : claim.scope;
  const message = `Limit of this ${whom} reached: ${claim.limit} ${UNITS[claim.kind]}, ${used} used; retry after ${seconds} s.`;
  return new AppError(code, { message, retryAfterMs: seconds * 1000 });
}

function overBudget({ budget: { period, scope, subject }, endsAt }: BudgetRefusal): AppError {
  const whom = scope === "group" || scope === "model" ? `${scope} ${subject}` : scope;
  const time = new Date(endsAt * 1000).toISOString();
  return new AppError("budget_exceeded", { values: { period, scope: whom, time } });
}

/** Of several limits of one kind the one with the least left is told. */
function tellLimits(response: ServerResponse, states: readonly ClaimState[]): void {
  if (response.headersSent) return;
  for (const kind of ["requests", "tokens"] as const) {
    const [tightest] = states
      .filter(({ claim }) => claim.kind === kind)
      .toSorted((a, b) => a.claim.limit - a.used - (b.claim.limit - b.used));
    if (!tightest) continue;
    const { claim, used, resetMs } = tightest;
    response.setHeader(`x-ratelimit-limit-${kind}`, String(claim.limit));
    response.setHeader(`x-ratelimit-remaining-${kind}`, String(Math.max(0, claim.limit - used)));
    response.setHeader(`x-ratelimit-reset-${kind}`, `${Math.ceil(resetMs / 1000)}s`);
  }
}
