// The way of a model call from its parsed body to its charge:
//
//   runPipeline   may the caller use the model, words, guardrail and response cache (policies)
//   serve         the conversation's channel, the order of the others (selection), the delivery to the client
//   enterModel    limits, budgets and the reservation, in one round trip, with the first channel that has room
//   attempts      one Attempt after the other until one has delivered or nothing is left to try
//   hops          the same again with the next model, if the request has others to fall back to
//   the end       settled by the attempt that delivered, released on any error before that
//
// Nothing is written to the client before a channel has begun to answer, except the heartbeat of a stream.
import type { ServerResponse } from "node:http";
import type { ReservationSession } from "../reservation/reservation-session.ts";
import { readOnFor } from "../reservation/output-reservation.ts";
import { admitModel, servingGroups } from "../admission/model-access.ts";
import { Attempt, type AttemptHooks } from "./attempt.ts";
import type { Conversation } from "../selection/conversation.ts";
import { Delivery } from "../response/delivery.ts";
import { NOTHING_USED } from "../../limits/claims.ts";
import type { AppError } from "../../lib/app-error.ts";
import type { RelayReport } from "../reservation/relay-report.ts";
import { createRetries, type Retries } from "./retry.ts";
import { firstAdmitted } from "../admission/candidates.ts";
import type { RunningRequest } from "../reservation/running.ts";
import type { AttemptResult } from "../upstream/attempt-result.ts";
import type { Failure } from "../upstream/failure.ts";
import { endFailures, noteFailure } from "../trace/route.ts";
import { buildAttemptEnd, buildAttemptStart } from "../trace/span.ts";
import type { RelayRequest } from "../request/request.ts";
import { chooseFallbacks } from "../fallback/choose-fallbacks.ts";
import { findFailureCause } from "../fallback/leave-cause.ts";
import { createResponsePolicies, type ResponsePolicies } from "../policies/response-policies.ts";
import { enterModel, toPreferred, type Entered, type PipelineContext, type PipelineDeps } from "./enter-model.ts";
import { Hops } from "./hops.ts";
import { observeLatency } from "./observe-latency.ts";

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
  const fallbacks = chooseFallbacks(request, snapshot);
  const hops = fallbacks && new Hops(context, (request.fallbacks = fallbacks), response);
  if (!snapshot.guardrail && !snapshot.responseCache) return serve(context, response, { hops });
  const { ticker, running, admission } = deps;
  const policies = await createResponsePolicies(
    context,
    { response, ticker, running, calls: admission.calls },
    deps.policies,
  );
  return policies && "result" in policies ? policies : serve(context, response, { hops, policies });
}

/** What further models and the operator's policies add to a request. */
interface Serving {
  readonly hops: Hops | undefined;
  /** Reads the answer on its way. */
  readonly policies?: ResponsePolicies | undefined;
}

/** Runs from the choice of a channel to the charge. */
async function serve(
  context: PipelineContext,
  response: ServerResponse,
  { hops, policies }: Serving,
): Promise<RelayReport> {
  const { request, deps } = context;
  const entered = hops ? await hops.enterFirst() : await enterModel(context, response);
  const delivery = deliveryFor(response, policies, deps);
  const tried: Attempt[] = [];
  const attempts: AttemptContext = { delivery, tried, deps, policies, hops, entered };
  const handle = buildRunningRequest(request, attempts);
  deps.running.add(handle);
  let isSuccess = false;
  try {
    if (request.spec.stream) startStream(delivery, request);
    const result = await serveModels(request, attempts);
    const { session, conversation } = attempts.entered;
    isSuccess = result.kind === "delivered";
    if (result.kind === "disconnected") await session.abandon(tried.at(-1));
    if (result.kind === "delivered" && conversation !== undefined) remember(conversation, tried, deps);
    if (context.snapshot.balancing) observeLatency(request, { result, session, attempt: tried.at(-1) }, deps);
    policies?.ended({ result, tried, session }, delivery);
    return { result, tried, session };
  } catch (error) {
    await attempts.entered.session.release();
    throw error;
  } finally {
    deps.running.remove(handle);
    await leave(attempts, isSuccess);
  }
}

/** Reports the use of limits and budgets. */
async function leave({ entered: { admission, session }, hops }: AttemptContext, isSuccess: boolean): Promise<void> {
  admission?.end({ ...usedBy(session), isSuccess });
  await hops?.end();
}

function deliveryFor(
  response: ServerResponse,
  policies: ResponsePolicies | undefined,
  { ticker }: PipelineDeps,
): Delivery {
  return policies ? policies.delivery(response, ticker) : new Delivery(response, ticker);
}

function remember({ name, rule }: Conversation, tried: readonly Attempt[], { affinity }: PipelineDeps): void {
  const choice = tried.at(-1)?.target;
  if (choice) affinity.served(name, toPreferred(choice), rule.ttl_seconds * 1000);
}

/** Returns the charged tokens, for limits; nothing if the request was not charged. */
export function usedBy({ charged }: Pick<ReservationSession, "charged">) {
  return charged ? { tokens: charged.usage.input + charged.usage.output } : NOTHING_USED;
}

interface AttemptContext {
  readonly delivery: Delivery;
  readonly tried: Attempt[];
  readonly deps: PipelineDeps;
  readonly policies: ResponsePolicies | undefined;
  readonly hops: Hops | undefined;
  /** The model that serves; another one after a hop. */
  entered: Entered;
}

/** All channels of a model have failed. */
interface Exhausted {
  readonly kind: "exhausted";
  readonly error: AppError;
  /** Undefined if no channel was called. */
  readonly last: Failure | undefined;
}

/** Serves with one model after the other; throws the last failure when none is left. */
async function serveModels(request: RelayRequest, attempts: AttemptContext): Promise<AttemptResult> {
  const { hops, tried, delivery } = attempts;
  for (;;) {
    const result = await attemptUntilDelivered(request, attempts);
    if (result.kind !== "exhausted") return result;
    const cause = hops && !hops.isUsedUp(tried.length) ? findFailureCause(result.last, request) : undefined;
    const next = cause && (await hops?.next(cause));
    if (!next) throw request.stopped ?? result.error;
    attempts.entered = next;
    if (delivery.isDisconnected) return { kind: "disconnected" };
  }
}

/** Tries channels until one delivers. */
async function attemptUntilDelivered(
  request: RelayRequest,
  attempts: AttemptContext,
): Promise<AttemptResult | Exhausted> {
  const { deps, tried, entered, hops } = attempts;
  const { selection, first, admission } = entered;
  const share = hops?.share(tried.length);
  const retries = createRetries(request, deps.snapshots.current(), selection, { ...deps.retry, share });
  for (let target = first; target; target = await firstAdmitted(retries.next(), selection, admission)) {
    if (request.stopped) throw request.stopped;
    const attempt = new Attempt(request, target, buildHooks(request, attempts), deps);
    const result = await run(attempt, attempts, retries);
    if (result.kind !== "failed") return result;
  }
  endFailures(request, retries.ended);
  if (request.stopped) throw request.stopped;
  return { kind: "exhausted", error: retries.lastError(), last: retries.last };
}

function buildHooks(request: RelayRequest, { delivery, tried, deps, entered }: AttemptContext): AttemptHooks {
  const { session } = entered;
  const snapshot = deps.snapshots.current();
  return {
    delivery,
    settle: (completion, built, current) => session.settle({ completion, built, attempt: current, tried }),
    progress: (outputBound, current) => session.progress(outputBound, current, tried),
    cover: (requested) => session.cover(requested),
    outputRoom: () => session.outputRoom,
    grow: (atMost, exactly, current) => session.grow(atMost, exactly, { attempt: current, tried }),
    outputCap: session.outputCap,
    finishesAbandoned: !request.spec.stream && snapshot.options.FinishAbandonedCalls,
    readOn: readOnFor(request, snapshot),
  };
}

/** Calls one upstream, and reports how that ended. */
async function run(attempt: Attempt, attempts: AttemptContext, retries: Retries): Promise<AttemptResult> {
  const { delivery, deps, tried, policies } = attempts;
  const { request, target } = attempt;
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
  return result;
}

function startStream(delivery: Delivery, request: RelayRequest): void {
  request.form = request.dialect.streamForm?.(request.url);
  delivery.startStream(request.form, request.dialect.heartbeat);
}

function buildRunningRequest(request: RelayRequest, attempts: AttemptContext): RunningRequest {
  const { tried } = attempts;
  return {
    isStream: request.spec.stream,
    tried,
    async renew() {
      const { admission, session } = attempts.entered;
      tried.at(-1)?.expire();
      await Promise.all([admission?.renew(), session.renew(tried.at(-1), tried)]);
    },
    stop(error) {
      request.stopped ??= error;
      tried.at(-1)?.stop(error, "server_shutdown");
    },
  };
}
