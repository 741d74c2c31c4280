import type { ServerResponse } from "node:http";
import type { Level, Snapshot, SnapshotStore } from "../../snapshot/types.ts";
import { ReservationSession } from "../reservation/reservation-session.ts";
import type { RequestContext, RequestMoney } from "../reservation/reserve.ts";
import { buildBudgetAmounts, requestTerms, type RequestTerms } from "../reservation/reservation-terms.ts";
import type { Affinity, Preferred } from "../selection/affinity.ts";
import type { AttemptDeps } from "./attempt.ts";
import type { ChannelGuard } from "../selection/auto-disable.ts";
import type { CheckWords } from "../admission/blocked-words.ts";
import { findConversation, type Conversation, type ConversationInput } from "../selection/conversation.ts";
import type { DeliveryTicker } from "../response/delivery.ts";
import { admissionFor, type AdmissionController, type AdmissionDeps } from "../admission/admission-controller.ts";
import { admitAndReserve } from "../admission/admit-and-reserve.ts";
import type { RetrySettings } from "./retry.ts";
import { whileWaiting, type RunningRequests } from "../reservation/running.ts";
import type { StickyModels } from "../selection/sticky-models.ts";
import type { RouteTarget, Selection, SelectionDeps } from "../selection/types.ts";
import { fixedTarget, pinnedAccountTarget, pinnedFileTarget, pinnedTarget } from "../selection/pinned-target.ts";
import { createSelection } from "../selection/select.ts";
import { listedName } from "../../billing/pricing/listed-name.ts";
import type { UsageDoubts } from "../selection/usage-doubts.ts";
import type { ResponseStore } from "../stateful/response-store.ts";
import type { ResponseOwners } from "../stateful/owners.ts";
import type { RelayRequest } from "../request/request.ts";
import type { ResponsePolicyDeps } from "../policies/response-policies.ts";
import type { Metrics } from "../../observability/metrics.ts";

/** Chooses channels, and learns from what came of them. */
export interface Routing {
  readonly selection: SelectionDeps;
  readonly affinity: Affinity;
  readonly sticky: StickyModels;
  readonly guard: ChannelGuard;
  readonly usageDoubts: UsageDoubts;
  readonly retry: RetrySettings;
}

/** Calls upstreams, and remembers what they store. */
export interface UpstreamAccess extends AttemptDeps {
  readonly owners: ResponseOwners;
  readonly responseStore: ResponseStore;
}

/** Decides what a caller may send, how much, and what it may read. */
export interface Policy {
  readonly checkWords: CheckWords;
  readonly responses: ResponsePolicyDeps;
  readonly admission: AdmissionDeps;
}

/** Counts what happens to requests. */
export interface Telemetry {
  readonly metrics: Pick<Metrics, "fellBack">;
}

/** What the pipeline works with; a function takes the parts that it needs. */
export interface PipelineDeps {
  readonly snapshots: SnapshotStore;
  readonly running: RunningRequests;
  readonly ticker: DeliveryTicker;
  readonly money: RequestMoney;
  readonly routing: Routing;
  readonly upstream: UpstreamAccess;
  readonly policy: Policy;
  readonly telemetry: Telemetry;
}

export interface PipelineContext extends RequestContext {
  readonly deps: PipelineDeps;
}

/** A request with everything that it takes to call the channels of its model. */
export interface Entered {
  /** As it names this model. */
  readonly request: RelayRequest;
  readonly selection: Selection;
  /** The first channel that has room. */
  readonly first: RouteTarget | undefined;
  readonly admission: AdmissionController | undefined;
  readonly session: ReservationSession;
  readonly conversation: Conversation | undefined;
  /** True if the conversation stays with the channel that served it before: after a failure, no other one is tried. */
  readonly isBound: boolean;
}

/** What a request that may fall back keeps when it leaves a model or is refused by one. */
export interface Carried {
  admission: AdmissionController | undefined;
  session: ReservationSession | undefined;
}

/**
 * Chooses the first channel of the request's model, and takes limits, budgets and money for it. A refusal is thrown;
 * then everything is released, or put into `carried` for another model.
 */
export async function enterModel(
  context: PipelineContext,
  response: ServerResponse,
  carried?: Carried,
): Promise<Entered> {
  const { request, snapshot, groups, deps } = context;
  const conversation = conversationFor(request, groups, snapshot);
  const preferred = conversation && deps.routing.affinity.find(conversation.name);
  const selection = selectionFor(request, groups, deps, preferred);
  request.progress.chose(selection);
  const admission = carried?.admission ?? admissionFor(request, snapshot, deps.policy.admission);
  const entrance = { selection, response, carried };
  const { first, session } = admission
    ? await enterWithin(admission, context, entrance)
    : await enterFreely(context, entrance);
  const isBound = conversation !== undefined && bind(request, conversation, { preferred, first }, deps.routing);
  if (admission) session.fitBudgets(admission.budgeted);
  return { request, selection, first, admission, session, conversation, isBound };
}

interface Entrance {
  readonly selection: Selection;
  readonly response: ServerResponse;
  readonly carried: Carried | undefined;
}

type Entering = Pick<Entered, "first" | "session">;

/** Takes money for the first channel, if no limit concerns the request. */
async function enterFreely(context: PipelineContext, { selection, carried }: Entrance): Promise<Entering> {
  try {
    const first = selection.next();
    const terms = requestTerms(context.request, context.snapshot, context.groups);
    return { first, session: await openSession(context, terms, carried) };
  } catch (error) {
    selection.unused();
    throw error;
  }
}

/** Takes limits and money with the first channel that has room. */
async function enterWithin(
  admission: AdmissionController,
  context: PipelineContext,
  { selection, response, carried }: Entrance,
): Promise<Entering> {
  try {
    const first = selection.next();
    const terms = requestTerms(context.request, context.snapshot, context.groups);
    const admitting = admission.enter(first, selection, {
      client: response,
      budgetAmounts: () => buildBudgetAmounts(terms),
    });
    const reserving = openSession(context, terms, carried, admission);
    const admitted = admitAndReserve(admission, admitting, reserving, {
      async release(session) {
        if (carried) carried.session = session;
        else await session.release();
      },
      ...(carried && { end: () => void (carried.admission = admission) }),
    });
    const entered = await whileWaiting(context.deps.running, admission, reserving, admitted);
    return { first: entered.first, session: entered.reservation };
  } catch (error) {
    selection.unused();
    throw error;
  }
}

function openSession(
  context: PipelineContext,
  terms: RequestTerms,
  carried: Carried | undefined,
  admission?: AdmissionController,
): Promise<ReservationSession> {
  return carried?.session
    ? carried.session.continueWith(context, terms, admission)
    : ReservationSession.open(context, terms, admission);
}

/** Undefined if there is only one target, or nothing identifies the conversation. */
export function conversationFor(
  request: RelayRequest,
  groups: readonly string[],
  { index, options, prices }: Snapshot,
): Conversation | undefined {
  const { spec, caller, pinnedAccount } = request;
  if (!options.ChannelAffinityEnabled || pinnedAccount || caller.pinnedChannel !== undefined) return undefined;
  if (!hasChoice(groups, index, listedName(spec.model))) return undefined;
  return findConversation(toConversationInput(request, prices), options.ChannelAffinityRules);
}

/** Returns what names the conversation of a request. */
export function toConversationInput(
  { spec: { model }, caller, body, clientHeaders: headers, url }: RelayRequest,
  prices: Snapshot["prices"],
): ConversationInput {
  const { userId, tokenId, group } = caller;
  const [path = ""] = url.split("?", 1);
  return { userId, tokenId, group, model, path, body, headers, price: prices.find(model) };
}

/** Runs for every request, so it allocates nothing. */
function hasChoice(groups: readonly string[], index: Snapshot["index"], name: string): boolean {
  let only: Level | undefined;
  for (const group of groups) {
    for (const level of index.get(group)?.get(name) ?? []) {
      if (only || level.channels.length > 1) return true;
      only = level;
    }
  }
  return (only?.channels[0]?.keys.length ?? 0) > 1;
}

/** Notes whether the request goes to the channel of its conversation; returns true if the rule binds it to that one. */
export function bind(
  request: RelayRequest,
  { rule }: Conversation,
  { preferred, first }: { readonly preferred: Preferred | undefined; readonly first: RouteTarget | undefined },
  { affinity }: Pick<Routing, "affinity">,
): boolean {
  const isHit = preferred !== undefined && preferred.channelId === first?.channel.id;
  request.progress.continued(isHit);
  affinity.asked(rule.name, isHit);
  return isHit && rule.skip_retry_on_failure;
}

export function toPreferred({ channel, keyIndex }: RouteTarget): Preferred {
  return { channelId: channel.id, keyIndex };
}

/** Returns the channels that may serve, best first: those of the groups, or only the pinned channel or account. */
export function selectionFor(
  request: RelayRequest,
  groups: readonly string[],
  { snapshots, routing: { selection } }: Pick<PipelineDeps, "snapshots" | "routing">,
  preferred?: Preferred,
): Selection {
  const { caller, pinnedAccount, spec, body, sharedIds } = request;
  const { pinnedChannel } = caller;
  if (pinnedChannel === undefined && !pinnedAccount)
    return createSelection(snapshots.current(), groups, { spec, caller, body, sharedIds, preferred }, selection);
  const group = groups[0] ?? "default";
  const { loads } = selection;
  const find = (): RouteTarget => {
    const snapshot = snapshots.current();
    if (pinnedAccount?.file) return pinnedFileTarget(snapshot, { ...pinnedAccount, groups }, request, selection);
    if (pinnedAccount) return pinnedAccountTarget(snapshot, { ...pinnedAccount, group }, request, selection);
    return pinnedTarget(snapshot, { channelId: pinnedChannel as number, group }, request, selection);
  };
  return fixedTarget(find, snapshots.current().balancing && loads && ((channelId) => loads.begin(channelId)));
}
