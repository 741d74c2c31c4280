// The way of a model call from its parsed body to its charge:
//
//   runPipeline   may the caller use the model, words, guardrail and response cache (policies)
//   serve         the conversation's channel, the order of the others (selection), the delivery to the client
//   enterModel    limits, budgets and the reservation, in one round trip, with the first channel that has room
//   serveModels   one Attempt after the other until one has delivered or nothing is left to try
//   hops          the same again with the next model, if the request has others to fall back to
//   the end       settled by the attempt that delivered, released on any error before that
//
// Nothing is written to the client before a channel has begun to answer, except the heartbeat of a stream.
import type { ServerResponse } from "node:http";
import type { FallbackCause } from "@fairway/wire";
import type { RequestedOutput, Usage } from "../../dialects/core/types.ts";
import type { BuiltCall } from "../conversion/build-call.ts";
import type { Completion } from "../response/sink.ts";
import type { ReadOn } from "../response/unseen-output.ts";
import type { ReservationSession } from "../reservation/reservation-session.ts";
import { readOnFor } from "../reservation/output-reservation.ts";
import { admitModel, servingGroups } from "../admission/model-access.ts";
import { Attempt, type AttemptHooks } from "./attempt.ts";
import type { MarkNote } from "../prompt-cache/mark-prompt.ts";
import type { Conversation } from "../selection/conversation.ts";
import { Delivery } from "../response/delivery.ts";
import { NOTHING_USED } from "../../limits/claims.ts";
import type { RelayReport } from "../reservation/relay-report.ts";
import { Retries } from "./retry.ts";
import type { RouteTarget } from "../selection/types.ts";
import { firstAdmitted } from "../admission/candidates.ts";
import type { RunningRequest } from "../reservation/running.ts";
import type { AppError } from "../../lib/app-error.ts";
import type { AttemptResult } from "../upstream/attempt-result.ts";
import { buildAttemptEnd, buildAttemptStart } from "../trace/span.ts";
import type { RelayRequest } from "../request/request.ts";
import { chooseFallbacks } from "../fallback/choose-fallbacks.ts";
import { findFailureCause } from "../fallback/leave-cause.ts";
import { createResponsePolicies, type ResponsePolicies } from "../policies/response-policies.ts";
import { enterModel, toPreferred, type Entered, type PipelineContext, type PipelineDeps } from "./enter-model.ts";
import { Hops } from "./hops.ts";
import { observeLatency } from "./observe-latency.ts";

/**
 * Serves one relayed request from its parsed body to its charge. Every failure before the first byte is an AppError,
 * thrown or as a rejection, with the reservation released; after that, the attempt itself has answered the client.
 */
export function runPipeline(request: RelayRequest, response: ServerResponse, deps: PipelineDeps): Promise<RelayReport> {
  const snapshot = deps.snapshots.current();
  admitModel(request.caller, request.spec);
  deps.policy.checkWords(() => request.dialect.promptWords(request.body), request.id);
  const groups = servingGroups(request.caller, snapshot);
  const context = { request, snapshot, groups, money: deps.money, deps };
  const fallbacks = chooseFallbacks(request, snapshot);
  const hops = fallbacks && new Hops(context, fallbacks, response);
  return snapshot.guardrail || snapshot.responseCache
    ? serveWithPolicies(context, response, hops)
    : serve(context, response, { hops });
}

/** The same where the operator's policies read the prompt and the answer, or may answer themselves. */
async function serveWithPolicies(
  context: PipelineContext,
  response: ServerResponse,
  hops: Hops | undefined,
): Promise<RelayReport> {
  const { deps } = context;
  const { ticker, running, policy } = deps;
  const policies = await createResponsePolicies(
    context,
    { response, ticker, running, calls: policy.admission.calls, furtherModels: hops?.models },
    policy.responses,
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
  const handle = new RunningCall(request, attempts);
  deps.running.add(handle);
  let isSuccess = false;
  try {
    if (request.spec.stream) startStream(delivery, request);
    const result = await serveModels(attempts);
    const { request: served, session, conversation } = attempts.entered;
    isSuccess = result.kind === "delivered";
    if (result.kind === "disconnected") await session.abandon(tried.at(-1));
    if (isSuccess) remember(conversation, attempts);
    if (context.snapshot.balancing) observeLatency(served, { result, session, attempt: tried.at(-1) }, deps.routing);
    const report = { request: served, result, tried, session };
    policies?.ended(report, delivery);
    return report;
  } catch (error) {
    await attempts.entered.session.release();
    throw error;
  } finally {
    deps.running.remove(handle);
    attempts.entered.selection.leave();
    // Limits and budgets learn what was used.
    const { admission, session } = attempts.entered;
    admission?.end({ ...usedBy(session), isSuccess });
    if (hops) await hops.end();
  }
}

function deliveryFor(
  response: ServerResponse,
  policies: ResponsePolicies | undefined,
  { ticker }: PipelineDeps,
): Delivery {
  return policies ? policies.delivery(response, ticker) : new Delivery(response, ticker);
}

/** The conversation stays with the channel that delivered, and with a model that it fell back to. */
function remember(conversation: Conversation | undefined, { tried, hops, deps }: AttemptContext): void {
  hops?.delivered();
  const choice = tried.at(-1)?.target;
  if (!choice || !conversation) return;
  deps.routing.affinity.served(conversation.name, toPreferred(choice), conversation.rule.ttl_seconds * 1000);
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

/** Tries the channels of one model after the other until one delivers; throws the last failure when none is left. */
async function serveModels(attempts: AttemptContext): Promise<AttemptResult> {
  for (;;) {
    const { request, selection, first, admission } = attempts.entered;
    const { progress } = request;
    const retries = beginModel(attempts);
    for (let target = first; target; target = await firstAdmitted(retries.next(), selection, admission)) {
      if (progress.stopped) throw progress.stopped;
      const attempt = beginAttempt(target, attempts);
      await attempt.start();
      const result = endAttempt(attempt, await attempt.result, attempts, retries);
      if (result.kind !== "failed") return result;
    }
    progress.gaveUp(retries.ended);
    if (progress.stopped) throw progress.stopped;
    attempts.entered = await nextModel(attempts, retries);
    if (attempts.delivery.isDisconnected) return { kind: "disconnected" };
  }
}

function beginModel({ deps, entered, hops, tried }: AttemptContext): Retries {
  const { totalMs } = deps.routing.retry;
  const { request, selection, isBound } = entered;
  return new Retries(request, deps.snapshots.current(), selection, {
    totalMs,
    isBound,
    share: hops?.share(tried.length),
  });
}

/** Enters the next model after all channels of one have failed; throws their failure if there is none. */
async function nextModel({ entered, hops, tried }: AttemptContext, retries: Retries): Promise<Entered> {
  const { request } = entered;
  const error = retries.lastError();
  const cause = hops && !hops.isUsedUp(tried.length) ? findFailureCause(retries.last, request) : undefined;
  const next = cause && (await hops?.next(cause));
  if (!next) throw request.progress.stopped ?? error;
  return next;
}

/** What an attempt uses of its request: the client's side, and the money of the model that serves. */
class AttemptSide implements AttemptHooks {
  readonly delivery: Delivery;
  readonly outputCap: number | undefined;
  readonly finishesAbandoned: boolean;
  readonly readOn: ReadOn | undefined;
  readonly #session: ReservationSession;
  readonly #tried: readonly Attempt[];
  readonly #hops: Hops | undefined;

  constructor({ delivery, tried, deps, hops, entered }: AttemptContext) {
    const { request, session } = entered;
    const snapshot = deps.snapshots.current();
    this.#session = session;
    this.#tried = tried;
    this.#hops = hops;
    this.delivery = delivery;
    this.outputCap = session.outputCap;
    this.finishesAbandoned = !request.spec.stream && snapshot.options.FinishAbandonedCalls;
    this.readOn = readOnFor(request, snapshot);
  }

  settle(completion: Completion, built: BuiltCall, attempt: Attempt): Promise<Usage> {
    return this.#session.settle({ completion, built, attempt, tried: this.#tried });
  }

  progress(outputBound: () => number, attempt: Attempt): void {
    this.#session.progress(outputBound, attempt, this.#tried);
  }

  fallsBack(cause: FallbackCause): boolean {
    return this.#hops?.has(cause) === true;
  }

  cover(sent: RequestedOutput, marks: MarkNote | undefined): Promise<void> | undefined {
    return this.#session.cover(sent, marks);
  }

  outputRoom(): number {
    return this.#session.outputRoom;
  }

  grow(atMost: number, exactly: () => Promise<number>, attempt: Attempt): Promise<void> {
    return this.#session.grow(atMost, exactly, { attempt, tried: this.#tried });
  }
}

function beginAttempt(target: RouteTarget, attempts: AttemptContext): Attempt {
  const { request } = attempts.entered;
  const attempt = new Attempt(request, target, new AttemptSide(attempts), attempts.deps.upstream);
  attempts.tried.push(attempt);
  attempts.policies?.follow(attempt);
  request.progress.span?.attemptStarted(buildAttemptStart(attempt));
  return attempt;
}

/** Reports how an attempt ended. */
function endAttempt(
  attempt: Attempt,
  result: AttemptResult,
  { delivery, deps }: AttemptContext,
  retries: Retries,
): AttemptResult {
  const { request, target } = attempt;
  request.progress.span?.attemptEnded(buildAttemptEnd(attempt, result));
  deps.routing.guard.observe(attempt, result);
  if (result.kind !== "failed") return result;
  if (delivery.isDisconnected) return { kind: "disconnected" };
  retries.failed(target, result.failure);
  request.progress.failed(attempt, result.failure);
  return result;
}

function startStream(delivery: Delivery, request: RelayRequest): void {
  const form = request.dialect.streamForm?.(request.url);
  request.progress.beganStream(form);
  delivery.startStream(form, request.dialect.heartbeat);
}

/** The request among those that this process serves. A class, because every request has one. */
class RunningCall implements RunningRequest {
  readonly isStream: boolean;
  readonly tried: readonly Attempt[];
  renewAt = 0;
  place: number | undefined = undefined;
  readonly #attempts: AttemptContext;

  constructor({ spec }: RelayRequest, attempts: AttemptContext) {
    this.isStream = spec.stream;
    this.tried = attempts.tried;
    this.#attempts = attempts;
  }

  async renew(): Promise<void> {
    const { admission, session } = this.#attempts.entered;
    const current = this.tried.at(-1);
    current?.expire();
    await Promise.all([admission?.renew(), session.renew(current, this.tried)]);
  }

  stop(error: AppError): void {
    this.#attempts.entered.request.progress.stop(error);
    this.tried.at(-1)?.stop(error, "server_shutdown");
  }
}
