import type { IncomingMessage, ServerResponse } from "node:http";
import type { ErrorDialect } from "../../dialects/core/types.ts";
import type { Caller } from "../../identity/authentication/caller.ts";
import { AppError } from "../../lib/app-error.ts";
import type { Tracing } from "../../observability/tracing/call-span.ts";
import { hasControl } from "../../lib/text/text.ts";
import { sendError } from "../response/client-error.ts";
import { countTokens } from "../pipeline/count-tokens.ts";
import { allowAnyOrigin, answerPreflight } from "./cors.ts";
import { createLister, listDialect, modelList, oneModel, usableModels } from "./models.ts";
import type { PipelineDeps, Telemetry } from "../pipeline/enter-model.ts";
import { runPipeline } from "../pipeline/pipeline.ts";
import { readRequest, type Arrival, type ReadRequestDeps, type RelayMatch } from "./read-request.ts";
import type { Reporter } from "../pipeline/report.ts";
import { findErrorDialect, isRelayPath, matchRoute, type RouteMatch } from "./routes.ts";
import { withDefaultModel } from "./default-model.ts";
import { readQuery, type ObjectArrival, type RouteArrival } from "./route-arrival.ts";
import { readStoreDialect } from "./store-dialect.ts";
import { bindToAccount, type BindDeps } from "../stateful/bind.ts";
import { forwardStored } from "./forward-stored.ts";
import { keepToTenant, type TenancyDeps } from "../tenancy/keep-to-tenant.ts";
import { buildCallStart } from "../trace/span.ts";
import type { RelayRequest } from "../request/request.ts";

/** How the edge sees a call, and how many it may serve. */
export interface RelayEdge {
  readonly readArrival: (request: IncomingMessage) => Arrival;
  readonly isDraining: () => boolean;
  /** More requests in progress are answered 503; 0 = no limit. */
  readonly maxInflight: number;
}

/** Reports how calls end. */
export interface RelayTelemetry extends Telemetry {
  readonly reporter: Reporter;
  /** Undefined if no traces are sent. */
  readonly tracing?: Tracing | undefined;
}

/** Handlers of the routes that are not calls of a model. */
export interface OtherHandlers {
  /** Balance reads of old OpenAI clients. */
  readonly billing: (caller: Caller, read: "subscription" | "usage") => Promise<unknown>;
  /** Drawings and songs. */
  readonly tasks: (arrival: RouteArrival) => Promise<void>;
  /** Files that upstreams store. */
  readonly objects: (arrival: ObjectArrival) => Promise<void>;
  readonly batches: (arrival: RouteArrival) => Promise<void>;
  /** Prompts that upstreams cache for clients. */
  readonly caches: (arrival: RouteArrival) => Promise<void>;
  /** Where vendors run code. */
  readonly containers: (arrival: RouteArrival) => Promise<void>;
}

export interface RelayDeps extends PipelineDeps {
  readonly telemetry: RelayTelemetry;
  readonly edge: RelayEdge;
  readonly reading: ReadRequestDeps;
  /** Finds the answers that requests continue. */
  readonly stateful: BindDeps;
  /** Finds who owns what a request names. */
  readonly tenancy: TenancyDeps;
  readonly handlers: OtherHandlers;
}

/** A handler of the edge; `originalUrl` is set if another handler has shortened `url`. */
export type RelayHandler = (
  request: IncomingMessage & { readonly originalUrl?: string },
  response: ServerResponse,
  next: () => void,
) => void;

/** One call of a relay path, with everything known about it so far. */
interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  readonly path: string;
  readonly arrival: Arrival;
  /** Envelope of this caller's errors. */
  errors: ErrorDialect;
  /** The request to relay, once its body was read. */
  received: RelayRequest | undefined;
  /** True if an error response was sent; follow-up errors are ignored. */
  isRefused: boolean;
}

const LONGEST_SHOWN_PATH = 200;

/** Handles every path of the relay's prefixes; other paths go to `next`. */
export function createRelay(deps: RelayDeps): RelayHandler {
  return (request, response, next) => {
    const url = request.originalUrl ?? request.url ?? "/";
    const query = url.indexOf("?");
    const path = query < 0 ? url : url.slice(0, query);
    if (!isRelayPath(path)) return next();
    allowAnyOrigin(request, response);
    if (request.method === "OPTIONS") return answerPreflight(request, response);
    const method = request.method ?? "GET";
    const match = matchRoute(method, path);
    const arrival = deps.edge.readArrival(request);
    response.setHeader("request-id", arrival.requestId);
    const call: Call = {
      request,
      response,
      method,
      path,
      arrival,
      errors: selectErrorDialect(match, request, query < 0 ? "" : url.slice(query + 1)),
      received: undefined,
      isRefused: false,
    };
    if (deps.edge.isDraining()) response.setHeader("connection", "close");
    follow(call, deps);
    answer(call, match, deps).catch((thrown: unknown) => fail(call, AppError.from(thrown), deps));
  };
}

/** Replaces the relay in a process whose roles do not include it. */
export const withoutRelay: RelayHandler = (request, response, next) => {
  const path = (request.originalUrl ?? request.url ?? "/").split("?", 1)[0] ?? "/";
  if (!isRelayPath(path)) return next();
  const error = new AppError("unknown_url", { values: { method: request.method ?? "GET", path: printable(path) } });
  sendError(response, findErrorDialect(path), error, { requestId: "" });
};

/** Distinguishes vendors that share a path by headers that only their clients send. */
function selectErrorDialect(match: RouteMatch, { headers }: IncomingMessage, query: string): ErrorDialect {
  if (match.kind === "models" || match.kind === "billing") return "openai";
  if (match.kind === "object") return readStoreDialect(match.errors, headers, new URLSearchParams(query));
  if (match.kind === "batch" && match.errors === "openai")
    return readStoreDialect(match.errors, headers, new URLSearchParams(query));
  const isShared = (match.kind === "unimplemented" || match.kind === "unknown") && match.errors === "openai";
  return isShared ? listDialect("v1", "", headers, new URLSearchParams()) : match.errors;
}

/** A draining process waits for the call, but not for a body that is still arriving after the drain. */
function follow(call: Call, deps: RelayDeps): void {
  const open = {
    giveUp(error: AppError) {
      call.received?.progress.stop(error);
      if (!call.request.complete && !call.response.headersSent) fail(call, error, deps);
    },
  };
  deps.running.arrived(open);
  // It happens once; `once` would wrap the listener in two more objects.
  call.response.on("close", () => {
    deps.running.left(open);
    deps.reading.bodyLimits.memory.release(call.request);
  });
}

function answer(call: Call, match: RouteMatch, deps: RelayDeps): Promise<void> {
  return match.kind === "relay" ? serveModelCall(call, match, deps) : answerOther(call, match, deps);
}

/** Answers a call of any other route than those of models. */
async function answerOther(call: Call, match: Exclude<RouteMatch, RelayMatch>, deps: RelayDeps): Promise<void> {
  const { request, response, method, arrival } = call;
  switch (match.kind) {
    case "models":
      return listModels(call, match, deps);
    case "stored": {
      const caller = await deps.reading.authenticator.byKey(request, arrival.ip);
      await deps.reading.calls.take(arrival.requestId, caller.userId);
      return forwardStored(match, { request, response, arrival, caller }, deps);
    }
    case "billing": {
      const caller = await deps.reading.authenticator.byKey(request, arrival.ip, { allowExhausted: true });
      return sendJson(response, await deps.handlers.billing(caller, match.read));
    }
    case "task":
      return deps.handlers.tasks({ request, response, method, path: call.path, ...arrival });
    case "object": {
      const query = readQuery(request);
      const dialect = readStoreDialect(match.errors, request.headers, query);
      return deps.handlers.objects({ request, response, method, path: call.path, query, dialect, ...arrival });
    }
    case "batch":
      return deps.handlers.batches({ request, response, method, path: call.path, ...arrival });
    case "container":
      return deps.handlers.containers({ request, response, method, path: call.path, ...arrival });
    case "cache":
      return deps.handlers.caches({ request, response, method, path: call.path, ...arrival });
    default:
      return refuse(call, match, deps);
  }
}

type RefusedMatch = Extract<RouteMatch, { kind: "upgrade" | "unimplemented" | "wrong-method" | "unknown" }>;

/** Throws the error of an address that serves no call; those that say what exists ask for a key first. */
async function refuse(call: Call, match: RefusedMatch, deps: RelayDeps): Promise<never> {
  const { request, response, method, arrival } = call;
  switch (match.kind) {
    case "upgrade":
      await deps.reading.authenticator.byKey(request, arrival.ip);
      response.setHeader("upgrade", "websocket");
      throw new AppError("invalid_request", {
        status: 426,
        values: { reason: "This address speaks WebSocket: send an upgrade." },
      });
    case "unimplemented":
      await deps.reading.authenticator.byKey(request, arrival.ip);
      throw new AppError("api_not_implemented", match.message === undefined ? {} : { message: match.message });
    case "wrong-method":
      response.setHeader("allow", match.allow);
      throw new AppError("method_not_allowed", { values: { method, path: printable(call.path) } });
    case "unknown":
      throw new AppError("unknown_url", { values: { method, path: printable(call.path) } });
  }
}

/** Serves a call of a model: reads its body, checks whose ids it names, then runs the pipeline. */
async function serveModelCall(call: Call, match: RelayMatch, deps: RelayDeps): Promise<void> {
  const { request, response, arrival } = call;
  const { maxInflight } = deps.edge;
  const { tracing, reporter } = deps.telemetry;
  if (maxInflight > 0 && deps.running.requests >= maxInflight)
    throw new AppError("overloaded", { retryAfterMs: 1_000 });
  call.received = withDefaultModel(await readRequest(request, match, arrival, deps.reading), deps.snapshots.current());
  try {
    // Most requests continue nothing and name no id: they do not wait.
    const binding = bindToAccount(call.received, deps.stateful);
    if (binding) call.received = await binding;
    const keeping = keepToTenant(call.received, deps.tenancy);
    if (keeping) call.received = await keeping;
    if (tracing) call.received.progress.traced(tracing.begin(buildCallStart(call.received)));
    if (match.operation === "count_tokens") return await countTokens(call.received, response, deps);
    reporter.delivered(await runPipeline(call.received, response, deps));
  } finally {
    if (!call.received.progress.isCounted) deps.reading.calls.count(call.received.id, call.received.caller.userId);
    if (call.received.upload) await call.received.upload.dispose();
  }
}

async function listModels(call: Call, match: Extract<RouteMatch, { kind: "models" }>, deps: RelayDeps): Promise<void> {
  const { request, response, arrival, path } = call;
  const query = readQuery(request);
  call.errors = listDialect(match.prefix, path, request.headers, query);
  const caller = await deps.reading.authenticator.byKey(request, arrival.ip);
  const snapshot = deps.snapshots.current();
  const models = usableModels(snapshot, caller);
  const lister = createLister(snapshot, caller);
  sendJson(
    response,
    match.model === undefined
      ? modelList(call.errors, models, query, lister)
      : oneModel(call.errors, { name: match.model, models, caller, lister }),
  );
}

function fail(call: Call, error: AppError, deps: RelayDeps): void {
  if (call.isRefused) return;
  call.isRefused = true;
  const { request, response, method, path, arrival, errors, received } = call;
  deps.telemetry.reporter.failed(
    { ...arrival, method, path: path.slice(0, LONGEST_SHOWN_PATH), request: received },
    error,
  );
  if (!request.complete && !response.headersSent) response.setHeader("connection", "close");
  sendError(response, errors, error, {
    requestId: arrival.requestId,
    form: received?.progress.form ?? received?.dialect.streamForm?.(received.url),
    streamedModel: received?.spec.stream === true ? (received.progress.model ?? received.spec.model) : undefined,
  });
}

function printable(path: string): string {
  const shown = path.slice(0, LONGEST_SHOWN_PATH);
  return hasControl(shown)
    ? shown
        .split("")
        .filter((letter) => !hasControl(letter))
        .join("")
    : shown;
}

function sendJson(response: ServerResponse, value: unknown): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
  response.end(body);
}
