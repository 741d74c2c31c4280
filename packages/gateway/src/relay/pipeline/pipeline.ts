// The way of a model call from its parsed body to its charge:
//
//   runPipeline   may the caller use the model, words, guardrail and response cache (policies)
//   serve         the conversation's channel, the order of the others (selection), the delivery to the client
//   enter         limits, budgets and the reservation, in one round trip, with the first channel that has room
//   attempts      one Attempt after the other until one has delivered or nothing is left to try
//   the end       settled by the attempt that delivered, released on any error before that
//
// Nothing is written to the client before a channel has begun to answer, except the heartbeat of a stream.
import type { ServerResponse } from "node:http";
import type { Level, Snapshot, SnapshotStore } from "../../snapshot/types.ts";
import { ReservationSession } from "../reservation/reservation-session.ts";
import type { RequestContext, ReservationDeps } from "../reservation/reserve.ts";
import { readOnFor } from "../reservation/output-reservation.ts";
import { buildBudgetAmounts, requestTerms } from "../reservation/reservation-terms.ts";
import { admitModel, servingGroups } from "../admission/model-access.ts";
import type { Affinity, Preferred } from "../selection/affinity.ts";
import { Attempt, type AttemptDeps } from "./attempt.ts";
import type { ChannelGuard } from "../selection/auto-disable.ts";
import type { CheckWords } from "../admission/blocked-words.ts";
import { findConversation, type Conversation } from "../selection/conversation.ts";
import { Delivery, type DeliveryTicker } from "../response/delivery.ts";
import { admissionFor, type AdmissionController, type AdmissionDeps } from "../admission/admission-controller.ts";
import { NOTHING_USED } from "../../limits/claims.ts";
import { admitAndReserve } from "../admission/admit-and-reserve.ts";
import type { RelayReport } from "../reservation/relay-report.ts";
import { createRetries, type RetrySettings } from "./retry.ts";
import { firstAdmitted } from "../admission/candidates.ts";
import { whileWaiting, type RunningRequest, type RunningRequests } from "../reservation/running.ts";
import type { RouteTarget, Selection, SelectionDeps } from "../selection/types.ts";
import { fixedTarget, pinnedAccountTarget, pinnedTarget } from "../selection/pinned-target.ts";
import { createSelection } from "../selection/select.ts";
import { listedName } from "../../billing/pricing/listed-name.ts";
import type { UsageDoubts } from "../selection/usage-doubts.ts";
import type { AttemptResult } from "../upstream/attempt-result.ts";
import type { ResponseStore } from "../stateful/response-store.ts";
import type { ResponseOwners } from "../stateful/owners.ts";
import { endFailures, noteFailure } from "../trace/route.ts";
import { buildAttemptEnd, buildAttemptStart } from "../trace/span.ts";
import type { RelayRequest } from "../request/request.ts";
import {
  createResponsePolicies,
  type ResponsePolicies,
  type ResponsePolicyDeps,
} from "../policies/response-policies.ts";

export interface PipelineDeps extends ReservationDeps, AttemptDeps {
  readonly snapshots: SnapshotStore;
  readonly selection: SelectionDeps;
  readonly ticker: DeliveryTicker;
  readonly running: RunningRequests;
  readonly guard: ChannelGuard;
  readonly usageDoubts: UsageDoubts;
  readonly retry: RetrySettings;
  readonly admission: AdmissionDeps;
  readonly affinity: Affinity;
  readonly owners: ResponseOwners;
  readonly responseStore: ResponseStore;
  readonly checkWords: CheckWords;
  readonly policies: ResponsePolicyDeps;
}

/**
 * Serves one relayed request from its parsed body to its charge. Every failure before the first byte is thrown as an
 * AppError with the reservation released; after that, the attempt itself has answered the client.
 */
export async function runPipeline(
  request: RelayRequest,
  response: ServerResponse,
  deps: PipelineDeps,
): Promise<RelayReport> {
  const snapshot = deps.snapshots.current();
  admitModel(request.caller, request.spec);
  deps.checkWords(() => request.dialect.promptWords(request.body), request.id);
  const groups = servingGroups(request.caller, snapshot);
  const context = { request, snapshot, groups, deps };
  if (!snapshot.guardrail && !snapshot.responseCache) return serve(context, response, undefined);
  const { ticker, running, admission } = deps;
  const policies = await createResponsePolicies(
    context,
    { response, ticker, running, calls: admission.calls },
    deps.policies,
  );
  return policies && "result" in policies ? policies : serve(context, response, policies);
}

interface PipelineContext extends RequestContext {
  readonly deps: PipelineDeps;
}

/** Runs from the choice of a channel to the charge; `policies` reads the answer on its way. */
async function serve(
  context: PipelineContext,
  response: ServerResponse,
  policies: ResponsePolicies | undefined,
): Promise<RelayReport> {
  const { request, snapshot, groups, deps } = context;
  const conversation = conversationFor(request, groups, snapshot);
  const preferred = conversation && deps.affinity.find(conversation.name);
  const selection = selectionFor(request, groups, deps, preferred);
  request.selection = selection;
  const admission = admissionFor(request, snapshot, deps.admission);
  const { first, reservation: session } = await enter(context, admission, selection, response);
  if (conversation) bind(request, conversation, { preferred, first }, deps);
  const delivery = deliveryFor(response, policies, deps);
  const tried: Attempt[] = [];
  const handle = buildRunningRequest(request, session, tried, admission);
  deps.running.add(handle);
  const attempts = { delivery, session, tried, deps, admission, policies };
  let isSuccess = false;
  try {
    if (request.spec.stream) startStream(delivery, request);
    if (admission) session.fitBudgets(admission.budgeted);
    const result = await attemptUntilDelivered(request, first, selection, attempts);
    isSuccess = result.kind === "delivered";
    if (result.kind === "disconnected") await session.abandon(tried.at(-1));
    if (result.kind === "delivered" && conversation !== undefined) remember(conversation, tried, deps);
    policies?.ended({ result, tried, session }, delivery);
    return { result, tried, session };
  } catch (error) {
    await session.release();
    throw error;
  } finally {
    deps.running.remove(handle);
    leave(attempts, isSuccess);
  }
}

/** Takes limits and money with the first channel that has room. */
async function enter(
  context: PipelineContext,
  admission: AdmissionController | undefined,
  selection: Selection,
  response: ServerResponse,
): Promise<{ readonly first: RouteTarget | undefined; readonly reservation: ReservationSession }> {
  try {
    const first = selection.next();
    const terms = requestTerms(context.request, context.snapshot, context.groups);
    if (!admission) return { first, reservation: await ReservationSession.open(context, terms) };
    const admitting = admission.enter(first, selection, {
      client: response,
      budgetAmounts: () => buildBudgetAmounts(terms),
    });
    const reserving = ReservationSession.open(context, terms, admission);
    const admitted = admitAndReserve(admission, admitting, reserving, (session) => session.release());
    return await whileWaiting(context.deps.running, admission, reserving, admitted);
  } catch (error) {
    selection.unused();
    throw error;
  }
}

/** Reports the use of limits and budgets. */
function leave({ admission, session }: AttemptContext, isSuccess: boolean): void {
  admission?.end({ ...usedBy(session), isSuccess });
}

function deliveryFor(
  response: ServerResponse,
  policies: ResponsePolicies | undefined,
  { ticker }: PipelineDeps,
): Delivery {
  return policies ? policies.delivery(response, ticker) : new Delivery(response, ticker);
}

/** Undefined if there is only one target, or nothing identifies the conversation. */
export function conversationFor(
  request: RelayRequest,
  groups: readonly string[],
  { index, options, prices }: Snapshot,
): Conversation | undefined {
  const { spec, caller, body, clientHeaders: headers, pinnedAccount, url } = request;
  if (!options.ChannelAffinityEnabled || pinnedAccount || caller.pinnedChannel !== undefined) return undefined;
  const { model } = spec;
  if (!hasChoice(groups, index, listedName(model))) return undefined;
  const { userId, tokenId, group } = caller;
  const [path = ""] = url.split("?", 1);
  const spoken = { userId, tokenId, group, model, path, body, headers, price: prices.find(model) };
  return findConversation(spoken, options.ChannelAffinityRules);
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

/** Records whether the request goes to the channel of its conversation, and binds it there if the rule says so. */
export function bind(
  request: RelayRequest,
  { rule }: Conversation,
  { preferred, first }: { readonly preferred: Preferred | undefined; readonly first: RouteTarget | undefined },
  { affinity }: Pick<PipelineDeps, "affinity">,
): void {
  const isHit = preferred !== undefined && preferred.channelId === first?.channel.id;
  request.isBound = isHit && rule.skip_retry_on_failure;
  request.isAffine = isHit;
  affinity.asked(rule.name, isHit);
}

function remember({ name, rule }: Conversation, tried: readonly Attempt[], { affinity }: PipelineDeps): void {
  const choice = tried.at(-1)?.target;
  if (choice) affinity.served(name, toPreferred(choice), rule.ttl_seconds * 1000);
}

export function toPreferred({ channel, keyIndex }: RouteTarget): Preferred {
  return { channelId: channel.id, keyIndex };
}

/** Returns the charged tokens, for limits; nothing if the request was not charged. */
export function usedBy({ charged }: Pick<ReservationSession, "charged">) {
  return charged ? { tokens: charged.usage.input + charged.usage.output } : NOTHING_USED;
}

interface AttemptContext {
  readonly delivery: Delivery;
  readonly session: ReservationSession;
  readonly tried: Attempt[];
  readonly deps: PipelineDeps;
  readonly admission: AdmissionController | undefined;
  readonly policies: ResponsePolicies | undefined;
}

/** Tries channels until one delivers; throws the last failure when none is left. */
async function attemptUntilDelivered(
  request: RelayRequest,
  first: RouteTarget | undefined,
  selection: Selection,
  attempts: AttemptContext,
): Promise<AttemptResult> {
  const { session, delivery, deps, tried, admission, policies } = attempts;
  const retries = createRetries(request, deps.snapshots.current(), selection, deps.retry);
  for (let target = first; target; target = await firstAdmitted(retries.next(), selection, admission)) {
    if (request.stopped) throw request.stopped;
    const attempt = new Attempt(
      request,
      target,
      {
        delivery,
        settle: (completion, built, current) => session.settle({ completion, built, attempt: current, tried }),
        progress: (outputBound, current) => session.progress(outputBound, current, tried),
        cover: (requested) => session.cover(requested),
        outputRoom: () => session.outputRoom,
        grow: (atMost, exactly, current) => session.grow(atMost, exactly, { attempt: current, tried }),
        outputCap: session.outputCap,
        finishesAbandoned: !request.spec.stream && deps.snapshots.current().options.FinishAbandonedCalls,
        readOn: readOnFor(request, deps.snapshots.current()),
      },
      deps,
    );
    tried.push(attempt);
    policies?.follow(attempt);
    request.span?.attemptStarted(buildAttemptStart(attempt));
    const result = await attempt.start();
    request.span?.attemptEnded(buildAttemptEnd(attempt, result));
    deps.guard.observe(attempt, result);
    if (result.kind !== "failed") return result;
    if (delivery.isDisconnected) return { kind: "disconnected" };
    retries.failed(target, result.failure);
    noteFailure(request, attempt, result.failure);
  }
  endFailures(request, retries.ended);
  throw request.stopped ?? retries.lastError();
}

/** Returns the channels that may serve, best first: those of the groups, or only the pinned channel or account. */
export function selectionFor(
  request: RelayRequest,
  groups: readonly string[],
  deps: PipelineDeps,
  preferred?: Preferred,
): Selection {
  const { caller, pinnedAccount } = request;
  const { pinnedChannel } = caller;
  if (pinnedChannel === undefined && !pinnedAccount)
    return createSelection(deps.snapshots.current(), groups, { ...request, preferred }, deps.selection);
  const group = groups[0] ?? "default";
  return fixedTarget(() =>
    pinnedAccount
      ? pinnedAccountTarget(deps.snapshots.current(), { ...pinnedAccount, group }, request, deps.selection)
      : pinnedTarget(deps.snapshots.current(), { channelId: pinnedChannel as number, group }, request, deps.selection),
  );
}

function startStream(delivery: Delivery, request: RelayRequest): void {
  request.form = request.dialect.streamForm?.(request.url);
  delivery.startStream(request.form, request.dialect.heartbeat);
}

function buildRunningRequest(
  request: RelayRequest,
  session: ReservationSession,
  tried: readonly Attempt[],
  admission: AdmissionController | undefined,
): RunningRequest {
  return {
    isStream: request.spec.stream,
    tried,
    async renew() {
      tried.at(-1)?.expire();
      await Promise.all([admission?.renew(), session.renew(tried.at(-1), tried)]);
    },
    stop(error) {
      request.stopped ??= error;
      tried.at(-1)?.stop(error, "server_shutdown");
    },
  };
}
