import type { ServerResponse } from "node:http";
import type { Operation } from "../../dialects/core/types.ts";
import type { AppError } from "../../lib/app-error.ts";
import type { GuardrailPolicy } from "../../snapshot/guardrail-policy.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import type { RequestContext } from "../reservation/reserve.ts";
import type { CacheCall, CacheLookup, ResponseCache } from "./cache/response-cache.ts";
import type { Delivery, DeliveryTicker } from "../response/delivery.ts";
import type { Sink } from "../response/sink.ts";
import { AnswerGuard } from "./guardrail/answer-guard.ts";
import type { Guardrail, Judge } from "./guardrail/guardrail.ts";
import type { RelayReport } from "../reservation/relay-report.ts";
import type { RunningRequest, RunningRequests } from "../reservation/running.ts";
import { listedName } from "../../billing/pricing/listed-name.ts";
import type { RelayRequest } from "../request/request.ts";
import { WatchedDelivery } from "./watched-delivery.ts";

/** The dependencies of the operator's policies for prompts and answers. */
export interface ResponsePolicyDeps {
  readonly guardrail: Guardrail;
  readonly cache: ResponseCache;
}

/** The attempt whose answer is judged. */
interface Answering extends Pick<Sink, "stop"> {
  readonly request: RelayRequest;
}

/** A request whose answer is judged, cached, or both. */
export interface ResponsePolicies {
  delivery(response: ServerResponse, ticker: DeliveryTicker): Delivery;
  /** Sets the attempt that a refused window ends. */
  follow(attempt: Answering): void;
  /** Reports how the request ended. */
  ended(report: RelayReport, delivery: Delivery): void;
}

/** Operations whose answers are text from a model. */
const JUDGED: ReadonlySet<Operation> = new Set(["chat", "completions", "responses"]);

interface Arrival extends Pick<CacheCall, "response" | "ticker" | "calls"> {
  readonly running: RunningRequests;
  /** The models to which the request may fall back. */
  readonly furtherModels: readonly string[] | undefined;
}

/**
 * Judges the prompt, then looks up a cached answer. Returns a report if the request is answered already; undefined if
 * its answer needs no processing. Throws `prompt_blocked` and `guardrail_unavailable`.
 */
export async function createResponsePolicies(
  context: RequestContext,
  { running, ...arrival }: Arrival,
  deps: ResponsePolicyDeps,
): Promise<RelayReport | ResponsePolicies | undefined> {
  const waiting: RunningRequest = { isStream: false, renew: () => Promise.resolve(), stop: () => undefined };
  running.add(waiting);
  try {
    return await applyPolicies(context, arrival, deps);
  } finally {
    running.remove(waiting);
  }
}

async function applyPolicies(
  context: RequestContext,
  { furtherModels, ...arrival }: Omit<Arrival, "running">,
  { guardrail, cache }: ResponsePolicyDeps,
): Promise<RelayReport | ResponsePolicies | undefined> {
  const { request, snapshot } = context;
  const policy = concerned(snapshot.guardrail, context, furtherModels);
  const guarding = policy && (await judgePrompt({ policy, guardrail }, request));
  const caching = concerned(snapshot.responseCache, context);
  const fingerprint = guarding ? guarding.policy.fingerprint : "";
  const found = caching && (await cache({ policy: caching, guardrail: fingerprint, context, ...arrival }));
  if (found && "result" in found) return found;
  return found || guarding ? buildPolicies(request, found, guarding) : undefined;
}

/** A guardrail of one model judges each request that may end there. */
function concerned<P extends NonNullable<Snapshot["guardrail"] | Snapshot["responseCache"]>>(
  policy: P | undefined,
  { request, groups }: RequestContext,
  further: readonly string[] = [],
): P | undefined {
  const names = [request.spec.model, ...further].flatMap((model) => [model, listedName(model)]);
  return policy?.concerns(groups, names) ? policy : undefined;
}

/** Undefined if the answer is not judged. */
async function judgePrompt(guarding: Guarding, request: RelayRequest): Promise<Guarding | undefined> {
  const { policy, guardrail } = guarding;
  const { spec, body, dialect } = request;
  const error = policy.checksPrompts
    ? await guardrail(policy, request)({ phase: "prompt", text: dialect.promptWords(body).join("\n") })
    : undefined;
  if (error) throw error;
  return policy.checksAnswers && JUDGED.has(spec.operation) ? guarding : undefined;
}

interface Guarding {
  readonly policy: GuardrailPolicy;
  readonly guardrail: Guardrail;
}

function buildPolicies(
  request: RelayRequest,
  visit: CacheLookup | undefined,
  guarding: Guarding | undefined,
): ResponsePolicies {
  const { dialect } = request;
  let attempt: Answering | undefined;
  // The model that answers may be another one than the requested one.
  const judge =
    ({ policy, guardrail }: Guarding): Judge =>
    (judged) =>
      guardrail(policy, attempt?.request ?? request)(judged);
  const onBlocked = (error: AppError) => attempt?.stop(error, "guardrail");
  return {
    delivery: (response, ticker) =>
      new WatchedDelivery(response, ticker, {
        recorder: visit?.recorder,
        guard:
          guarding &&
          ((release) => new AnswerGuard({ ...guarding.policy, judge: judge(guarding), dialect, release, onBlocked })),
      }),
    follow: (next) => void (attempt = next),
    ended(report, delivery) {
      const isWhole = report.result.kind === "delivered" && report.result.reason === "stop";
      // An unjudged answer that the operator's policy lets pass is not cached: an equal request must be judged.
      // An answer of another model than the requested one has another price.
      const { guardrail, fallback } = request.progress;
      const isOwn = guardrail === undefined && fallback === undefined;
      if (isWhole && !delivery.isDisconnected && isOwn) visit?.keep(report);
    },
  };
}
