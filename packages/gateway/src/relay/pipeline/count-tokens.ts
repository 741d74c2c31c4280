import type { ServerResponse } from "node:http";
import { ZERO } from "../../billing/money/quota.ts";
import { isSet } from "../../dialects/core/read.ts";
import type { DialectId, JsonObject } from "../../dialects/core/types.ts";
import { AppError, unsupportedParameter } from "../../lib/app-error.ts";
import { parseObject } from "../../lib/text/json.ts";
import type { CallSpan } from "../../observability/tracing/call-span.ts";
import { readProxy } from "../../providers/core/proxy.ts";
import { UpstreamRefusal } from "../../providers/core/failed-answer.ts";
import { admitModel, servingGroups } from "../admission/model-access.ts";
import { collect, sendCall, type CollectedAnswer } from "../upstream/collected-answer.ts";
import { buildCall } from "../conversion/build-call.ts";
import { countConverted, countedRequest, countingTargets } from "./count-converted.ts";
import { DEFAULT_REST_MS } from "../selection/cooldown.ts";
import { notBuilt, refusedByUpstream, unreachable, unreadable, type Failure } from "../upstream/failure.ts";
import { admissionFor, type AdmissionController } from "../admission/admission-controller.ts";
import { NOTHING_USED } from "../../limits/claims.ts";
import type { AdmissionRequest } from "../admission/admission-request.ts";
import { selectionFor, type PipelineDeps, type UpstreamAccess } from "./enter-model.ts";
import { classifyRefusal } from "../selection/read-failure.ts";
import { Retries } from "./retry.ts";
import { singleCandidate, firstAdmitted, type Candidate } from "../admission/candidates.ts";
import type { RouteTarget, Selection } from "../selection/types.ts";
import { CallProgress } from "../request/call-progress.ts";
import type { RelayRequest } from "../request/request.ts";
import { buildAttemptStart } from "../trace/span.ts";
import { countTexts } from "../response/whole-sink.ts";

const MAX_ANSWER_BYTES = 1024 * 1024;

/**
 * Counts a prompt at a channel whose upstream can count, otherwise with the encoders here. Free, and without a log row.
 */
export async function countTokens(request: RelayRequest, response: ServerResponse, deps: PipelineDeps): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort(new AppError("client_closed_request")));
  const found = firstTarget(request, deps);
  const admission = admissionFor(uncharged(request), deps.snapshots.current(), deps.policy.admission);
  const handle = {
    isStream: false,
    renew: async () => admission?.renew(),
    stop: (error: AppError) => gone.abort(error),
  };
  deps.running.add(handle);
  let isSuccess = false;
  try {
    if (admission) request.progress.counted();
    const counted = found && (await askUpstream(request, { ...found, admission, response }, gone.signal, deps));
    if (counted) send(response, counted);
    else {
      const candidate = here(request);
      if (!found && admission)
        await admission.enter(candidate, singleCandidate(candidate), {
          client: response,
          budgetAmounts: () => ({ amount: ZERO }),
        });
      await countOtherwise(request, response, { wasAsked: found !== undefined, signal: gone.signal, deps });
    }
    isSuccess = true;
    request.progress.span?.ended({ status: 200, outcome: "ok" });
  } finally {
    found?.selection.leave();
    deps.running.remove(handle);
    admission?.end({ ...NOTHING_USED, isSuccess });
  }
}

/** Counting costs nothing: it counts toward limits of requests, but not of tokens. */
function uncharged({ id, caller, spec }: RelayRequest): AdmissionRequest {
  const progress = new CallProgress();
  return { id, caller, spec: { model: spec.model, promptEstimate: 0, outputCap: 0 }, progress };
}

/** The gateway as a candidate, for prompts that no upstream counts: the caller's limits apply to it too. */
function here({ caller }: RelayRequest): Candidate {
  return { channel: { id: 0, setting: {} }, group: caller.group, keyIndex: 0 };
}

/** Members that refer to data stored at an upstream. */
const HELD_UPSTREAM = ["previous_response_id", "conversation", "prompt"];

interface Otherwise {
  /** True if an upstream was asked in the client's protocol and does not know the path. */
  readonly wasAsked: boolean;
  readonly signal: AbortSignal;
  readonly deps: PipelineDeps;
}

/** Counts with the upstream that would answer the prompt, in its own protocol; otherwise estimates, and says so. */
async function countOtherwise(
  request: RelayRequest,
  response: ServerResponse,
  { wasAsked, signal, deps }: Otherwise,
): Promise<void> {
  const json = request.body.json();
  const held = request.dialect.id === "openai-input-tokens" && HELD_UPSTREAM.find((name) => isSet(json[name]));
  if (held) throw unsupportedParameter(held, "Send what it stands for instead.");
  const counted = await countedByUpstream(request, { wasAsked, signal, deps });
  signal.throwIfAborted();
  if (counted === undefined) response.setHeader("x-fairway-estimated", "true");
  const { spec, dialect, body } = request;
  const tokens = counted ?? (await countTexts(deps.money.counter, spec.model, dialect.promptTexts(body)));
  send(response, Buffer.from(JSON.stringify(buildAnswer(dialect.id, tokens))));
}

async function countedByUpstream(
  request: RelayRequest,
  { wasAsked, signal, deps }: Otherwise,
): Promise<number | undefined> {
  const answering = answeringTarget(request, deps);
  if (!answering) return undefined;
  const { asked, selection, first } = answering;
  try {
    for (const target of countingTargets(asked, first)) {
      if (wasAsked && target.plan.bridges.length === 0) continue;
      const counted = await countConverted(asked, target, signal, deps.upstream);
      if (counted !== undefined || signal.aborted) return counted;
    }
    return undefined;
  } finally {
    selection.unused();
  }
}

/** Returns the channel that would answer the prompt; undefined if the prompt could not be sent. */
function answeringTarget(
  request: RelayRequest,
  deps: PipelineDeps,
): (FirstTarget & { readonly asked: RelayRequest }) | undefined {
  try {
    const asked = countedRequest(request);
    const found = asked && firstTarget(asked, deps);
    return found && { asked, ...found };
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

function buildAnswer(dialect: DialectId, tokens: number): JsonObject {
  if (dialect === "gemini-count-tokens") return { totalTokens: tokens };
  const kind = dialect === "openai-input-tokens" ? { object: "response.input_tokens" } : {};
  return { ...kind, input_tokens: tokens };
}

interface FirstTarget {
  readonly selection: Selection;
  readonly first: RouteTarget;
}

/** Undefined if channels have the model but none of them can count. */
function firstTarget(request: RelayRequest, deps: PipelineDeps): FirstTarget | undefined {
  admitModel(request.caller, request.spec);
  const groups = servingGroups(request.caller, deps.snapshots.current());
  try {
    const selection = selectionFor(request, groups, deps);
    const first = selection.next();
    return first && { selection, first };
  } catch (error) {
    const cannot =
      error instanceof AppError && ["no_available_channel", "unsupported_by_channel"].includes(error.code ?? "");
    if (!cannot) throw error;
    return undefined;
  }
}

interface AttemptContext extends FirstTarget {
  readonly admission: AdmissionController | undefined;
  readonly response: ServerResponse;
}

/** Undefined if the upstream does not know the path: many that copy a protocol leave out its counting. */
async function askUpstream(
  request: RelayRequest,
  { selection, first, admission, response }: AttemptContext,
  signal: AbortSignal,
  deps: PipelineDeps,
): Promise<Buffer | undefined> {
  const { progress } = request;
  const retries = new Retries(request, deps.snapshots.current(), selection, deps.routing.retry);
  const entered = admission ? await entering(admission, { selection, first, response }) : first;
  for (let target = entered; target; target = await firstAdmitted(retries.next(), selection, admission)) {
    const startedAt = performance.now();
    progress.span?.attemptStarted(buildAttemptStart({ target }));
    const tried = await attempt(request, target, signal, deps.upstream);
    if (progress.span) endSpan(progress.span, target, tried);
    signal.throwIfAborted();
    if (Buffer.isBuffer(tried)) {
      deps.routing.guard.observe({ request, target, startedAt }, { kind: "delivered", reason: "stop" });
      return tried;
    }
    if (isPathUnknown(tried)) {
      selection.unused();
      return undefined;
    }
    deps.routing.guard.observe({ request, target, startedAt }, { kind: "failed", failure: tried });
    retries.failed(target, tried);
  }
  throw retries.lastError();
}

function endSpan(span: CallSpan, { channel, plan }: RouteTarget, tried: Buffer | Failure): void {
  const host = URL.parse(channel.baseUrl || plan.provider.baseUrl)?.host ?? "";
  const end = Buffer.isBuffer(tried)
    ? { status: 200, errorCode: undefined }
    : { status: tried.error.status, errorCode: tried.error.code ?? tried.outcome };
  span.attemptEnded({ ...end, host, upstreamRequestId: undefined });
}

function isPathUnknown({ error }: Failure): boolean {
  return error.origin === "upstream" && [404, 405, 501].includes(error.status);
}

function entering(
  admission: AdmissionController,
  { selection, first, response }: Omit<AttemptContext, "admission">,
): Promise<RouteTarget | undefined> {
  return admission
    .enter(first, selection, { client: response, budgetAmounts: () => ({ amount: ZERO }) })
    .catch((error: unknown) => {
      selection.unused();
      throw error;
    });
}

async function attempt(
  request: RelayRequest,
  target: RouteTarget,
  signal: AbortSignal,
  upstream: UpstreamAccess,
): Promise<Buffer | Failure> {
  const { channel } = target;
  const proxy = readProxy(channel);
  const timeouts = { headersMs: upstream.headersTimeoutMs.whole, idleMs: upstream.idleTimeoutMs };
  let answer: CollectedAnswer;
  try {
    const { call } = await buildCall(request, target, upstream);
    answer = await collect(await sendCall(upstream.upstreams, call, { proxy, timeouts, signal }), MAX_ANSWER_BYTES);
  } catch (error) {
    if (error instanceof UpstreamRefusal) return refusedByUpstream(error.upstreamError, channel, DEFAULT_REST_MS);
    return error instanceof AppError
      ? notBuilt(error)
      : unreachable(error instanceof Error ? error : new Error(String(error)));
  }
  if (answer.status < 200 || answer.status > 299) return classifyRefusal(answer, target, upstream);
  return parseObject(answer.body.toString("utf8"))
    ? answer.body
    : unreadable(new Error("the answer is not a JSON object"));
}

function send(response: ServerResponse, body: Buffer): void {
  response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
  response.end(body);
}
