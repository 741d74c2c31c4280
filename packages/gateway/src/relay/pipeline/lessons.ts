import { learnChatOnly } from "../../providers/core/chat-only.ts";
import type { BuiltCall } from "../conversion/build-call.ts";
import { learnNames } from "../conversion/learned-filters.ts";
import { learnUsageRefusal } from "../conversion/usage-switch.ts";
import { learnMarksRefusal } from "../prompt-cache/refused-marks.ts";
import type { RelayRequest } from "../request/request.ts";
import { planFor } from "../selection/plan.ts";
import type { RouteTarget } from "../selection/types.ts";
import type { Failure } from "../upstream/failure.ts";

export interface LessonsDeps {
  readonly now: () => number;
  /** Called when a request is sent with marks of the gateway, and when an upstream refuses them. */
  readonly onCacheMarks?: (provider: string, result: "sent" | "refused") => void;
  /** Called when a host of a filtered protocol refuses a name that no list contains. */
  readonly onFilterLearned?: (host: string) => void;
}

/** What the failures of one attempt teach about its upstream; it is remembered for later requests too. */
export class Lessons {
  readonly #request: RelayRequest;
  readonly #deps: LessonsDeps;
  /** True if the host has refused a name of this call before. */
  #hasLearnedNames = false;

  constructor(request: RelayRequest, deps: LessonsDeps) {
    this.#request = request;
    this.#deps = deps;
  }

  /** Returns the target of an immediate second try; undefined if the failure teaches nothing new. */
  learn(failure: Failure, target: RouteTarget, built: BuiltCall | undefined): RouteTarget | undefined {
    return (
      this.#retryWithoutMarks(failure, target, built) ??
      this.#retryWithoutUsage(failure, target) ??
      this.#retryAsChat(failure, target) ??
      this.#retryWithoutNames(failure, target, built)
    );
  }

  /** If the upstream refuses the marks that the gateway set, the same call is sent without them. */
  #retryWithoutMarks(
    { error, said }: Failure,
    target: RouteTarget,
    built: BuiltCall | undefined,
  ): RouteTarget | undefined {
    if (!built?.marks) return undefined;
    const { status, message, param } = error;
    const { channel, plan } = target;
    if (!learnMarksRefusal({ status, message: said ?? message, param }, channel, this.#deps.now())) return undefined;
    this.#deps.onCacheMarks?.(plan.provider.id, "refused");
    return target;
  }

  /** If the upstream rejects the usage option that the gateway added, the same call is sent without it. */
  #retryWithoutUsage(failure: Failure, target: RouteTarget): RouteTarget | undefined {
    const { spec } = this.#request;
    const { channel, plan } = target;
    if (!plan.provider.streamUsage || (spec.wantsStreamUsage && plan.bridges.length === 0)) return undefined;
    return learnUsageRefusal(failure, this.#request, channel, this.#deps.now()) ? target : undefined;
  }

  /** If the upstream has chat but not Responses, the same call is converted to chat. */
  #retryAsChat({ error }: Failure, target: RouteTarget): RouteTarget | undefined {
    const { channel, plan, upstreamModel } = target;
    if (plan.bridges.length > 0) return undefined;
    const { status, message, code } = error;
    if (!learnChatOnly(channel, plan.route, { status, message, code })) return undefined;
    const other = planFor(channel, this.#request.spec, upstreamModel, this.#request.body);
    return other && other.route !== plan.route ? { ...target, plan: other } : undefined;
  }

  /** If the host refuses a beta or a member by name, the same call is sent without it. */
  #retryWithoutNames(
    { error, said }: Failure,
    target: RouteTarget,
    built: BuiltCall | undefined,
  ): RouteTarget | undefined {
    const { channel, plan, upstreamModel } = target;
    const { hostFilter } = plan.provider;
    const isFiltered = hostFilter?.on.includes(plan.route.dialect) === true && channel.setting["filters"] !== "off";
    if (!isFiltered || this.#hasLearnedNames || error.status !== 400 || !built) return undefined;
    const names = hostFilter.refused(said ?? error.message, built.sent);
    const host = hostFilter.host(channel);
    if (!learnNames(channel, { host, model: upstreamModel, names }, this.#deps.now())) return undefined;
    this.#hasLearnedNames = true;
    this.#deps.onFilterLearned?.(host);
    return target;
  }
}
