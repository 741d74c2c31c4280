import type { ServerResponse } from "node:http";
import { channelClaims, channelLimits, limitsRequests, requestClaims } from "../limits/request-limits.ts";
import type { Claim, Claims, ClaimState } from "../limits/claims.ts";
import { AppError } from "../lib/app-error.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { Snapshot } from "../snapshot/types.ts";
import type { Admission, Place } from "./admission.ts";
import type { Choice, Selection } from "./select.ts";
import type { RelayRequest } from "./types.ts";

export interface GateDeps {
  readonly claims: Claims;
  readonly admission: Admission;
  readonly metrics: Pick<Metrics, "limited" | "queued">;
}

/** True when somebody's requests are limited; asked once for each snapshot. */
const limited = new WeakMap<Snapshot, boolean>();

/** Undefined when no limit is configured at all: such requests pay nothing for the possibility. */
export function gateFor(request: RelayRequest, snapshot: Snapshot, deps: GateDeps): Gate | undefined {
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
  #channelId: number | undefined;
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
  async enter(first: Choice | undefined, selection: Selection, response: ServerResponse): Promise<Choice | undefined> {
    if (!first) return undefined;
    let place: Place | undefined;
    let full = first;
    const since = performance.now();
    const onClose = () => place?.leave();
    response.once("close", onClose);
    try {
      for (let choice: Choice | undefined = first; ; choice = selection.reopen()) {
        for (; choice; choice = selection.next()) {
          if (await this.#takes(choice, place !== undefined, response)) return choice;
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
    this.#channelId = choice.channel.id;
    if (claims.length === 0) return true;
    const answer = await this.#deps.claims.take(this.#request.id, claims);
    if (answer.taken) [this.#ofChannel, this.#channelTakenAt] = [claims, answer.at];
    return answer.taken;
  }

  renew(): Promise<void> {
    return this.#deps.claims.renew(this.#request.id, [...this.#ofRequest, ...this.#ofChannel]);
  }

  /** `tokens` were really used. Nobody waits for this. */
  end(tokens: number): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#giveBack(this.#ofRequest, this.#takenAt, tokens);
    this.#giveBack(this.#ofChannel, this.#channelTakenAt, tokens);
  }

  #giveBack(claims: readonly Claim[], takenAt: number, tokens: number): void {
    if (claims.length === 0) return;
    const { admission } = this.#deps;
    const channelId = this.#channelId;
    void this.#deps.claims.correct(claims, takenAt, tokens);
    void this.#deps.claims.release(this.#request.id, claims).then(() => {
      if (channelId !== undefined) admission.freed(channelId);
    });
  }

  async #takes(choice: Choice, isTurn: boolean, response: ServerResponse): Promise<boolean> {
    const { caller, ask, id } = this.#request;
    const { claims, admission } = this.#deps;
    const ofChannel = channelClaims(choice.channel, choice.keyIndex, this.#tokens);
    if (ofChannel.length > 0 && !isTurn && admission.isWaitedFor(choice.channel.id)) return false;
    const subjects = { ...caller, group: choice.group, model: ask.model, tokens: this.#tokens };
    const ofRequest = requestClaims(subjects, this.#snapshot.options);
    if (ofRequest.length + ofChannel.length === 0) return true;
    const answer = await claims.take(id, [...ofRequest, ...ofChannel]);
    if (answer.taken) {
      [this.#ofRequest, this.#ofChannel] = [ofRequest, ofChannel];
      this.#takenAt = this.#channelTakenAt = answer.at;
      this.#channelId = choice.channel.id;
      tellLimits(response, answer.states.slice(0, ofRequest.length));
      return true;
    }
    const { state } = answer;
    this.#deps.metrics.limited(state.claim.scope, state.claim.kind);
    if (isOfChannel(state.claim)) return false;
    tellLimits(response, [state]);
    throw refusalOf(state);
  }

  /** In the queue of a channel that is full, until this request's turn. */
  async #wait(known: Place | undefined, { channel, group }: Choice, since: number): Promise<Place> {
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
