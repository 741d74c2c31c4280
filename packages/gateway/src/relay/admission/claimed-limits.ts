import { listedName } from "../../billing/pricing/listed-name.ts";
import type { AppError } from "../../lib/app-error.ts";
import {
  isRequests,
  isTokens,
  LONG_AGO,
  NOTHING_USED,
  type Claim,
  type Claims,
  type ClaimState,
  type TakenAt,
  type Used,
} from "../../limits/claims.ts";
import { channelClaims, groupClaims, modelClaims, requestClaims } from "../../limits/request-limits.ts";
import type { Metrics } from "../../observability/metrics.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import type { AdmissionQueue } from "./admission-queue.ts";
import { buildRefusal, sendLimitHeaders } from "./admission-refusal.ts";
import type { AdmissionRequest, ClientConnection } from "./admission-request.ts";
import { buildBudgetSubjects } from "./request-budgets.ts";
import type { CallLimit } from "./call-limit.ts";
import type { Candidate } from "./candidates.ts";
import type { LimitScope } from "../selection/types.ts";

interface ClaimedLimitsDeps {
  readonly claims: Claims;
  readonly queue: Pick<AdmissionQueue, "freed">;
  readonly calls: Pick<CallLimit, "refused">;
  readonly metrics: Pick<Metrics, "limited">;
}

/** The limits that one request has claimed: those of its caller until it ends, and those of the channel it uses. */
export class ClaimedLimits {
  #request: AdmissionRequest;
  readonly #options: Snapshot["options"];
  readonly #deps: ClaimedLimitsDeps;
  /** Upper estimate of prompt and answer. */
  readonly #tokens: number;
  #ofRequest: readonly Claim[] = [];
  #ofChannel: readonly Claim[] = [];
  /** The limits of a model that the request fell back to; those of the first one belong to `#ofRequest`. */
  #ofModel: readonly Claim[] = [];
  #modelTakenAt = LONG_AGO;
  /** True until the limits of such a model are claimed, with those of its first channel. */
  #needsModel = false;
  #takenAt = LONG_AGO;
  #channelTakenAt = LONG_AGO;
  /** The group whose limits the request claimed first. */
  #group = "";
  /** True if the caller's limits are claimed; they are held until the request ends. */
  #hasCaller = false;
  #candidate: Candidate | undefined;
  #full: LimitScope = "channel";
  #isEnded = false;
  /** Time of the claim, by the monotonic clock. */
  readonly #openedAt = performance.now();
  #isFirstAnswer = true;

  constructor(request: AdmissionRequest, options: Snapshot["options"], deps: ClaimedLimitsDeps) {
    this.#request = request;
    this.#options = options;
    this.#deps = deps;
    this.#tokens = request.spec.promptEstimate + (request.spec.outputCap ?? options.DefaultOutputTokens);
  }

  /** The channel whose limits were claimed last, successfully or not. */
  get candidate(): Candidate | undefined {
    return this.#candidate;
  }

  /** The limit that was reached when `take` or `move` last returned false. */
  get full(): LimitScope {
    return this.#full;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** True if the channel or its key has a limit. */
  limits({ channel, keyIndex }: Candidate): boolean {
    return channelClaims(channel, keyIndex, this.#tokens).length > 0;
  }

  /**
   * Claims the limits of the caller and of the channel in a single step. False if the channel is at its limit; throws
   * 429 if the caller is.
   */
  async take(candidate: Candidate, client: ClientConnection): Promise<boolean> {
    // The budget of an earlier channel refused the request after its caller was counted.
    if (this.#hasCaller) return this.move(candidate);
    this.#full = "channel";
    const { id, caller, dialect, tags } = this.#request;
    const { tokenLimits, userLimits, tagLimits: own } = caller;
    const member = toMember(caller);
    const ofChannel = channelClaims(candidate.channel, candidate.keyIndex, this.#tokens);
    this.#candidate = candidate;
    const subjects = {
      ...buildBudgetSubjects(this.#request, candidate),
      tokenLimits,
      userLimits,
      ...(member && { member }),
      ...(own && tags && { tagged: { text: tags.text, endUser: tags.endUser, own } }),
      tokens: this.#tokens,
    };
    const ofRequest = requestClaims(subjects, this.#options);
    this.#request.progress.counted();
    if (ofRequest.length + ofChannel.length === 0) {
      this.#group = candidate.group;
      this.#hasCaller = true;
      return true;
    }
    const answer = await this.#deps.claims.take(id, [...ofRequest, ...ofChannel]);
    if (answer.taken) {
      [this.#ofRequest, this.#ofChannel, this.#group] = [ofRequest, ofChannel, candidate.group];
      if (answer.claims) this.#ofRequest = answer.claims.slice(0, ofRequest.length);
      this.#takenAt = this.#channelTakenAt = answer.at;
      this.#hasCaller = true;
      sendLimitHeaders(client, answer.states.slice(0, ofRequest.length), dialect);
      return true;
    }
    const { state } = answer;
    this.#deps.metrics.limited(state.claim.scope, state.claim.kind);
    this.#request.progress.reachedLimit(state.claim.scope);
    if (isChannelLimit(state.claim)) return this.#noteFull(state.claim);
    this.#deps.calls.refused(caller.userId, state);
    throw buildRefusal(state, caller.team);
  }

  /** Releases the previous channel and claims the next one; false if that one is at its limit. */
  async move(candidate: Candidate): Promise<boolean> {
    this.#full = "channel";
    const { GroupLimits } = this.#options;
    const ofGroup = candidate.group === this.#group ? [] : groupClaims(candidate.group, GroupLimits, this.#tokens);
    const ofModel = this.#needsModel ? this.#claimsOfModel() : [];
    const claims = [...ofGroup, ...channelClaims(candidate.channel, candidate.keyIndex, this.#tokens)];
    this.releaseChannel();
    this.#candidate = candidate;
    if (claims.length + ofModel.length === 0) return true;
    const answer = await this.#deps.claims.take(this.#request.id, [...ofModel, ...claims]);
    if (!answer.taken) return this.#refuseMove(answer.state);
    [this.#ofChannel, this.#channelTakenAt] = [claims, answer.at];
    if (ofModel.length > 0) [this.#ofModel, this.#modelTakenAt] = [ofModel, answer.at];
    this.#needsModel = false;
    return true;
  }

  #claimsOfModel(): readonly Claim[] {
    return modelClaims(listedName(this.#request.spec.model), this.#options.ModelLimits, this.#tokens);
  }

  /** False for a limit of the channel; throws for one of the model, which no other channel helps. */
  #refuseMove(state: ClaimState): false {
    if (isChannelLimit(state.claim)) return this.#noteFull(state.claim);
    if (state.claim.scope !== "model") return false;
    this.#deps.metrics.limited(state.claim.scope, state.claim.kind);
    throw buildRefusal(state);
  }

  /** The request continues as `next` with another model: what it claimed of this one and its channel is released. */
  changeModel(next: AdmissionRequest): void {
    this.#request = next;
    this.releaseChannel();
    const [ofModel, others] = partition(this.#ofRequest, ({ scope }) => scope === "model");
    this.#release(ofModel, this.#takenAt, NOTHING_USED);
    this.#release(this.#ofModel, this.#modelTakenAt, NOTHING_USED);
    [this.#ofRequest, this.#ofModel] = [others, []];
    this.#needsModel = this.#hasCaller;
  }

  /** Releases the channel, which the request did not use. */
  releaseChannel(): void {
    this.#release(this.#ofChannel, this.#channelTakenAt, NOTHING_USED);
    this.#ofChannel = [];
  }

  /**
   * Reports what a long conversation has used so far. Tokens beyond the estimate count in the window in which they were
   * used; returns the refusal if they exceed a limit.
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
    // If limits cannot be checked, running requests continue.
    const answer = await this.#deps.claims.take(this.#request.id, asked).catch(() => undefined);
    return answer?.taken === false ? buildRefusal(answer.state) : undefined;
  }

  /**
   * Counts a further answer of a long conversation as a request; returns the refusal if a limit does not allow it. The
   * request that opened the conversation counts as its first answer, within its window.
   */
  async again(): Promise<AppError | undefined> {
    const isFirst = this.#isFirstAnswer;
    this.#isFirstAnswer = false;
    const isCounted = (claim: Claim) => isRequests(claim) && !(isFirst && this.#isInWindow(claim));
    const claims = [...this.#ofRequest, ...this.#ofChannel].filter(isCounted);
    if (claims.length === 0 || this.#isEnded) return undefined;
    // If limits cannot be checked, running requests continue.
    const answer = await this.#deps.claims.take(this.#request.id, claims).catch(() => undefined);
    if (answer?.taken !== false) return undefined;
    const { claim } = answer.state;
    this.#deps.metrics.limited(claim.scope, claim.kind);
    return buildRefusal(
      isChannelLimit(claim) ? { ...answer.state, claim: { ...claim, scope: "model" } } : answer.state,
    );
  }

  /** True while the request that was claimed first is in the window of the limit. */
  #isInWindow({ minutes = 1 }: Claim): boolean {
    return performance.now() - this.#openedAt < minutes * 60_000;
  }

  async renew(): Promise<void> {
    await this.#deps.claims.renew(this.#request.id, [...this.#ofRequest, ...this.#ofModel, ...this.#ofChannel]);
  }

  /** Releases all claims and reports what the request used. Not awaited; later calls change nothing. */
  end(used: Used): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#release(this.#ofRequest, this.#takenAt, used);
    this.#release(this.#ofModel, this.#modelTakenAt, used);
    this.#release(this.#ofChannel, this.#channelTakenAt, used);
    this.#ofRequest = this.#ofModel = this.#ofChannel = [];
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

  /** Notes which limit of a channel is reached. */
  #noteFull({ scope }: Claim): false {
    this.#full = scope === "key" ? "key" : "channel";
    return false;
  }
}

/** True for a limit of the channel or its key. */
function isChannelLimit({ scope }: Claim): boolean {
  return scope === "key" || scope === "channel";
}

function toMember({ team, memberLimits: limits }: AdmissionRequest["caller"]) {
  return team && limits && { subject: `${team.id}:${team.actor.slice(1)}`, limits };
}

function partition(claims: readonly Claim[], test: (claim: Claim) => boolean): readonly [Claim[], Claim[]] {
  return [claims.filter(test), claims.filter((claim) => !test(claim))];
}
