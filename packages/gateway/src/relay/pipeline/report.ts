import { listedName } from "../../billing/pricing/listed-name.ts";
import type { AppError } from "../../lib/app-error.ts";
import type { LogFields, Logger } from "../../observability/log.ts";
import type { Metrics } from "../../observability/metrics.ts";
import type { CallEnd, CallSpan } from "../../observability/tracing/call-span.ts";
import { classifyOutcome, type Outcome } from "../request/outcome.ts";
import type { Completion } from "../response/sink.ts";
import type { RelayReport } from "../reservation/relay-report.ts";
import type { AttemptResult, FinishReason } from "../upstream/attempt-result.ts";
import type { ErrorRows } from "../trace/error-rows.ts";
import { saidByUpstream, buildTrace } from "../trace/route.ts";
import type { RelayRequest } from "../request/request.ts";

/** Reports every relayed request to the log and the metrics, once. */
export interface Reporter {
  delivered(report: RelayReport): void;
  failed(facts: FailedRequest, error: AppError): void;
}

/** A request that ended before anything was delivered. */
export interface FailedRequest {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly ip: string;
  readonly startedAt: number;
  /** Set once the body was read. */
  readonly request: RelayRequest | undefined;
}

export interface ReporterDeps {
  readonly errorRows: Pick<ErrorRows, "record">;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export function createReporter(deps: ReporterDeps): Reporter {
  return {
    delivered(report) {
      const { request } = report;
      const outcome = classifyResult(report.result);
      const ms = performance.now() - request.startedAt;
      countDelivered(deps.metrics, report, { outcome, ms });
      deps.log.info("relay", buildLogLine(report, { outcome, ms }));
      const { span } = request.progress;
      if (span) endSpan(span, report, outcome);
    },
    failed: (facts, error) => reportFailure(deps, facts, error),
  };
}

interface Ended {
  readonly outcome: Outcome;
  /** Milliseconds from arrival to the last byte. */
  readonly ms: number;
}

function countDelivered(metrics: Metrics, { request, tried, session }: RelayReport, ended: Ended): void {
  const { operation, stream } = request.spec;
  const model = listedName(request.spec.model);
  const group = resolveGroup(request, tried);
  const traceId = request.progress.span?.traceId;
  metrics.relayed({ operation, model, group, stream, outcome: ended.outcome, seconds: ended.ms / 1000, traceId });
  if (!session.charged) return;
  const { usage, quota, completion } = session.charged;
  metrics.charged({ model, group, quota, input: usage.input, output: usage.output });
  if (!stream || completion.firstContentAt === undefined) return;
  metrics.firstToken({ operation, model, seconds: (completion.firstContentAt - request.startedAt) / 1000, traceId });
}

function buildLogLine({ request, result, tried, session }: RelayReport, ended: Ended): LogFields {
  const { spec, caller, progress } = request;
  const { charged } = session;
  // Members without a value are not printed.
  return {
    request_id: request.id,
    user: caller.userId,
    token: caller.tokenId,
    channels: tried.map(({ target }) => target.channel.id),
    group: resolveGroup(request, tried),
    model: spec.model,
    operation: spec.operation,
    stream: spec.stream,
    status: resolveStatus(request, result),
    outcome: ended.outcome,
    ms: Math.round(ended.ms),
    queue_ms: progress.queueMs,
    frt: charged && resolveFirstContentMs(request, charged.completion),
    input: charged?.usage.input,
    output: charged?.usage.output,
    quota: charged?.quota,
    trace_id: progress.span?.traceId,
    span_id: progress.span?.traceId && progress.span.spanId,
    end_reason: charged ? charged.completion.reason : readFinishReason(result),
  };
}

function readFinishReason(result: AttemptResult): FinishReason {
  return result.kind === "delivered" ? result.reason : "client_abort";
}

function resolveStatus({ spec, progress }: RelayRequest, result: AttemptResult): number {
  if (result.kind === "disconnected") return 499;
  if (result.kind !== "delivered" || result.reason !== "guardrail" || spec.stream) return 200;
  return progress.guardrail?.verdict === "failed" ? 503 : 400;
}

interface Started {
  readonly startedAt?: number | undefined;
}

function resolveFirstContentMs({ startedAt }: Started, { firstContentAt }: Completion): number | undefined {
  return firstContentAt === undefined || startedAt === undefined ? undefined : Math.round(firstContentAt - startedAt);
}

function endSpan(span: CallSpan, report: RelayReport, outcome: Outcome): void {
  span.ended({ status: resolveStatus(report.request, report.result), outcome, ...buildSpanFields(report) });
}

function buildSpanFields({ request, session, tried }: RelayReport): Partial<CallEnd> {
  if (!session.charged) return {};
  const { usage, quota, completion } = session.charged;
  const delivering = request.spec.stream ? tried.at(-1) : undefined;
  return {
    inputTokens: usage.input,
    outputTokens: usage.output,
    cachedInputTokens: usage.cachedInput,
    cacheWriteTokens: usage.cacheWrite,
    reasoningTokens: usage.reasoning,
    quota,
    firstTokenMs: resolveFirstContentMs(request, completion),
    upstreamFirstTokenMs: resolveFirstContentMs({ startedAt: delivering?.startedAt }, completion),
  };
}

function resolveGroup(request: RelayRequest, tried: RelayReport["tried"]): string {
  return tried.at(-1)?.target.group ?? request.caller.group;
}

function buildLabels(request: RelayRequest | undefined) {
  return { group: request?.caller.group ?? "", traceId: request?.progress.span?.traceId };
}

const UNREAD = { operation: "unknown", model: "", stream: false } as const;

/** Returns what a failed request asked for, with the model that it reached. */
function readAsked(request: RelayRequest | undefined) {
  if (!request) return UNREAD;
  const { spec, progress } = request;
  return { operation: spec.operation, model: progress.model ?? spec.model, stream: spec.stream };
}

function reportFailure(deps: ReporterDeps, facts: FailedRequest, error: AppError): void {
  const { log, metrics } = deps;
  const { request, requestId, method, path, ip, startedAt } = facts;
  const outcome = classifyOutcome(error);
  const ms = performance.now() - startedAt;
  const { operation, model, stream } = readAsked(request);
  metrics.relayed({ operation, model, stream, outcome, seconds: ms / 1000, ...buildLabels(request) });
  recordFailure(deps, facts, error, { outcome, ms });
  request?.progress.span?.ended({ status: error.status, outcome, errorCode: error.code });
  const caller = request && {
    user: request.caller.userId,
    token: request.caller.tokenId,
    model,
    queue_ms: request.progress.queueMs,
    trace_id: request.progress.span?.traceId,
    span_id: request.progress.span?.traceId && request.progress.span.spanId,
  };
  const failure = {
    status: error.status,
    code: error.code,
    outcome,
    ms: Math.round(ms),
    cause: readErrorMessage(error.cause),
  };
  const fields = { request_id: requestId, ...caller, method, path, ip, ...failure };
  if (error.code === "internal_error") log.error("relay failed", { ...fields, error: error.cause ?? error });
  else if (outcome === "internal") log.warn("relay refused", fields);
  else log.info("relay refused", fields);
}

/** Calls without a known owner are counted only in the metrics. */
function recordFailure({ errorRows }: ReporterDeps, facts: FailedRequest, error: AppError, ended: Ended): void {
  const { request, requestId, path } = facts;
  const owner = request?.caller ?? error.owner;
  if (!owner) return;
  const { model, stream } = readAsked(request);
  const channels = request?.progress.failures.map(({ attempt }) => attempt.target.channel.id) ?? [];
  const trace = () => request && buildTrace(request);
  const notes = request?.progress ?? {};
  const said = request && saidByUpstream(request);
  const tags = request?.tags;
  const call = { requestId, path, owner, tags, model, isStream: stream, channels, notes, said, trace, ...ended };
  errorRows.record(call, error);
}

function readErrorMessage(cause: unknown): string | undefined {
  return cause instanceof Error ? cause.message : undefined;
}

function classifyResult(result: RelayReport["result"]): Outcome {
  if (result.kind === "disconnected") return "client_abort";
  if (result.kind === "failed") return result.failure.outcome;
  switch (result.reason) {
    case "stop":
      return "ok";
    case "client_abort":
      return "client_abort";
    case "idle_timeout":
      return "timeout";
    case "quota_exhausted":
      return "quota";
    case "guardrail":
      return "client_error";
    case "upstream_cut":
    case "upstream_error":
      return "upstream_error";
    case "server_shutdown":
      return "server_shutdown";
    case "internal_error":
      return "internal";
  }
}
