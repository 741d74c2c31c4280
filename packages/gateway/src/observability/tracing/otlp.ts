// Traces over OTLP/HTTP. This module is loaded only if an endpoint is set, so that a gateway without one pays nothing.
import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Span,
  type Tracer,
} from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Clock } from "../../lib/clock.ts";
import type { FindProxy } from "../../lib/net/proxy-rules.ts";
import type { Logger } from "../log.ts";
import {
  attemptAttributes,
  attemptEndAttributes,
  callAttributes,
  endAttributes,
  operationName,
  usageAttributes,
  type GenAiConvention,
} from "./attributes.ts";
import type { AttemptEnd, AttemptStart, CallEnd, CallSpan, CallStart, Tracing } from "./call-span.ts";

export interface TracingSettings {
  /** Base address of the collector; traces go to `/v1/traces` below it. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sampled share of the calls without a sampled parent, 0 to 1. */
  readonly sample: number;
  readonly convention: GenAiConvention;
  readonly service: string;
  /** Attributes of the resource that all spans belong to. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly version: string;
  readonly instanceId: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly findProxy: FindProxy;
}

const WARN_EVERY_MS = 60_000;

const propagator = new W3CTraceContextPropagator();
const headerGetter = { get: (headers: CallStart["headers"], name: string) => headers[name], keys: Object.keys };
const intoHeaders = {
  set: (headers: Record<string, string>, name: string, value: string) => void (headers[name] = value),
};

export function startTracing(settings: TracingSettings): Tracing {
  const { endpoint, headers, sample, convention, version, instanceId, clock, log } = settings;
  logExportFailures(log);
  const url = `${endpoint.replace(/\/$/, "")}/v1/traces`;
  const proxy = settings.findProxy(new URL(url));
  const exporter = new OTLPTraceExporter({
    url,
    headers: { ...headers },
    ...(proxy !== undefined && {
      httpAgentOptions: { keepAlive: true, proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } },
    }),
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      ...settings.attributes,
      "service.name": settings.service,
      "service.version": version,
      "service.instance.id": instanceId,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sample) }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer("fairway", version);
  return {
    name: "traces",
    start: () => undefined,
    begin: (call) => new OtlpCallSpan({ tracer, convention, clock }, call),
    stop: () => provider.shutdown(),
  };
}

/**
 * Logs one line a minute while the collector is unavailable; calls do not wait for it, and spans beyond the queue are
 * dropped.
 */
function logExportFailures(log: Logger): void {
  let quietUntil = 0;
  const warn = (message: string) => {
    if (performance.now() < quietUntil) return;
    quietUntil = performance.now() + WARN_EVERY_MS;
    log.warn("traces cannot be sent", { cause: message.slice(0, 300) });
  };
  const nothing = () => undefined;
  diag.setLogger(
    { error: warn, warn, info: nothing, debug: nothing, verbose: nothing },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}

interface SpanDeps {
  readonly tracer: Tracer;
  readonly convention: GenAiConvention;
  readonly clock: Clock;
}

class OtlpCallSpan implements CallSpan {
  readonly #tracer: Tracer;
  readonly #convention: GenAiConvention;
  readonly #operation: string;
  readonly #context: Context;
  readonly #call: Span;
  readonly #now: () => number;
  #attempt: Span | undefined;
  /** The upstream call that delivered the answer. Its usage is known at the end of the whole call. */
  #delivered: { readonly span: Span; readonly endedAt: number } | undefined;

  constructor({ tracer, convention, clock }: SpanDeps, call: CallStart) {
    this.#tracer = tracer;
    this.#convention = convention;
    this.#operation = call.operation;
    this.#now = () => clock.now();
    const parent = propagator.extract(ROOT_CONTEXT, call.headers, headerGetter);
    this.#call = tracer.startSpan(
      `${operationName(call.operation)} ${call.model}`.trimEnd(),
      {
        kind: SpanKind.SERVER,
        startTime: clock.now() - (performance.now() - call.startedAt),
        attributes: callAttributes(call),
      },
      parent,
    );
    this.#context = trace.setSpan(parent, this.#call);
  }

  get traceId(): string | undefined {
    const { traceId, traceFlags } = this.#call.spanContext();
    return (traceFlags & TraceFlags.SAMPLED) === 0 ? undefined : traceId;
  }

  get spanId(): string {
    return this.#call.spanContext().spanId;
  }

  headers(): Readonly<Record<string, string>> {
    const headers: Record<string, string> = {};
    propagator.inject(trace.setSpan(this.#context, this.#attempt ?? this.#call), headers, intoHeaders);
    return headers;
  }

  attemptStarted(attempt: AttemptStart): void {
    this.#attempt = this.#tracer.startSpan(
      `${operationName(this.#operation)} ${attempt.upstreamModel}`.trimEnd(),
      { kind: SpanKind.CLIENT, attributes: attemptAttributes(attempt, this.#operation, this.#convention) },
      this.#context,
    );
  }

  attemptEnded(attempt: AttemptEnd): void {
    const span = this.#attempt;
    this.#attempt = undefined;
    if (!span) return;
    span.setAttributes(attemptEndAttributes(attempt));
    if (attempt.errorCode === undefined) {
      this.#endDelivered();
      this.#delivered = { span, endedAt: this.#now() };
      return;
    }
    span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  }

  #endDelivered(usage: Attributes = {}): void {
    this.#delivered?.span.setAttributes(usage);
    this.#delivered?.span.end(this.#delivered.endedAt);
    this.#delivered = undefined;
  }

  ended(end: CallEnd): void {
    this.#attempt?.end();
    this.#endDelivered(usageAttributes(end));
    this.#call.setAttributes(endAttributes(end));
    if (end.status >= 500) this.#call.setStatus({ code: SpanStatusCode.ERROR });
    this.#call.end();
  }
}
