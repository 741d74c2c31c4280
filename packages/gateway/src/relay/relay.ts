import type { IncomingMessage, ServerResponse } from "node:http";
import { dialectById } from "../dialects/index.ts";
import type { Dialect, ErrorDialect } from "../dialects/types.ts";
import { AppError } from "../lib/app-error.ts";
import type { Limiter, Rule } from "../limits/limiter.ts";
import { sendError } from "./client-error.ts";
import { allowAnyOrigin, answerPreflight } from "./cors.ts";
import { listDialect, modelList, oneModel, usableModels } from "./models.ts";
import { runPipeline, type PipelineDeps } from "./pipeline.ts";
import { protocolHeaders } from "./protocol-headers.ts";
import { jsonBody, readBody, type BodyLimits } from "./read-body.ts";
import type { FailedRequest, Reporter } from "./report.ts";
import { isRelayPath, matchRoute, type RouteMatch } from "./routes.ts";
import type { Authenticator, Caller, RelayRequest, SessionCaller } from "./types.ts";

/** What the edge knows about a request before the relay looks at it. */
export interface Arrival {
  readonly requestId: string;
  readonly ip: string;
  readonly startedAt: number;
}

export interface RelayDeps extends PipelineDeps {
  readonly arrivalOf: (request: IncomingMessage) => Arrival;
  readonly authenticator: Authenticator;
  readonly bodyLimits: BodyLimits;
  readonly reporter: Reporter;
  readonly limiter: Limiter;
  /** Relay requests per user; undefined = no limit. */
  readonly requestRule: () => Rule | undefined;
  /** Balance reads of old OpenAI clients. */
  readonly billing: (caller: Caller, read: "subscription" | "usage") => Promise<unknown>;
  readonly isDraining: () => boolean;
  /** More requests under way are answered 503; 0 = no limit. */
  readonly maxInflight: number;
}

/** Fits between other handlers of the edge; `originalUrl` is there when one of them has cut `url`. */
export type RelayHandler = (
  request: IncomingMessage & { readonly originalUrl?: string },
  response: ServerResponse,
  next: () => void,
) => void;

type RelayMatch = Extract<RouteMatch, { kind: "relay" }>;

/** Every path of the relay's prefixes; other paths are handed on. */
export function createRelay(deps: RelayDeps): RelayHandler {
  return (request, response, next) => {
    const url = request.originalUrl ?? request.url ?? "/";
    const query = url.indexOf("?");
    const path = query < 0 ? url : url.slice(0, query);
    if (!isRelayPath(path)) return next();
    allowAnyOrigin(request, response);
    if (request.method === "OPTIONS") return answerPreflight(request, response);
    void serve(request, response, path, deps);
  };
}

async function serve(request: IncomingMessage, response: ServerResponse, path: string, deps: RelayDeps): Promise<void> {
  const arrival = deps.arrivalOf(request);
  const method = request.method ?? "GET";
  const match = matchRoute(method, path);
  let errors: ErrorDialect = match.kind === "models" || match.kind === "billing" ? "openai" : match.errors;
  const facts: { -readonly [K in keyof FailedRequest]: FailedRequest[K] } = {
    ...arrival,
    method,
    path: path.slice(0, 200),
    request: undefined,
  };
  if (deps.isDraining()) response.setHeader("connection", "close");
  try {
    switch (match.kind) {
      case "relay": {
        response.setHeader("request-id", arrival.requestId);
        if (deps.maxInflight > 0 && deps.running.requests >= deps.maxInflight)
          throw new AppError("overloaded", { retryAfterMs: 1_000 });
        const relayed = await readRequest(request, match, arrival, deps);
        facts.request = relayed;
        deps.reporter.delivered(relayed, await runPipeline(relayed, response, deps));
        return;
      }
      case "models": {
        const query = new URLSearchParams((request.url ?? "").split("?")[1] ?? "");
        errors = listDialect(match.prefix, path, request.headers, query);
        const caller = await deps.authenticator.byKey(request, arrival.ip);
        const models = usableModels(deps.snapshots.current(), caller);
        return sendJson(
          response,
          match.model === undefined ? modelList(errors, models, query) : oneModel(errors, models, match.model, caller),
        );
      }
      case "billing": {
        const caller = await deps.authenticator.byKey(request, arrival.ip, { allowExhausted: true });
        return sendJson(response, await deps.billing(caller, match.read));
      }
      case "unimplemented":
        await deps.authenticator.byKey(request, arrival.ip);
        throw new AppError("api_not_implemented");
      case "wrong-method":
        response.setHeader("allow", match.allow);
        throw new AppError("method_not_allowed", { values: { method, path: printable(path) } });
      case "unknown":
        throw new AppError("unknown_url", { values: { method, path: printable(path) } });
    }
  } catch (thrown) {
    const error = AppError.from(thrown);
    deps.reporter.failed(facts, error);
    if (!request.complete) response.setHeader("connection", "close");
    sendError(response, errors, error, arrival.requestId);
  }
}

/** Authentication first, then the body, then what the dialect reads in it. */
async function readRequest(
  request: IncomingMessage,
  match: RelayMatch,
  arrival: Arrival,
  deps: RelayDeps,
): Promise<RelayRequest> {
  const { authenticator } = deps;
  const identified: Caller | SessionCaller = match.isPlayground
    ? await authenticator.bySession(request, arrival.ip)
    : await authenticator.byKey(request, arrival.ip);
  if ("userId" in identified) await takeRequestLimit(identified, deps);
  const bytes = await readBody(request, deps.bodyLimits);
  const body = jsonBody(bytes);
  const dialect = dialectById(match.dialect) as Dialect;
  const ask = dialect.inspect(
    body,
    match.operation,
    match.pathModel === undefined ? undefined : pathModel(match.pathModel),
  );
  const caller = "userId" in identified ? identified : identified.inGroup(groupOf(body.json()["group"]));
  return {
    id: arrival.requestId,
    ask: match.isStreamPath ? { ...ask, stream: true } : ask,
    dialect,
    body,
    contentType: "application/json",
    caller,
    url: withoutKey(request.url ?? ""),
    protocolHeaders: protocolHeaders(request.headers),
    startedAt: arrival.startedAt,
    autoGroup: caller.group === "auto" ? "auto" : undefined,
    isPlayground: match.isPlayground,
  };
}

async function takeRequestLimit(caller: Caller, deps: RelayDeps): Promise<void> {
  const rule = deps.requestRule();
  if (!rule) return;
  const admission = await deps.limiter.take(rule, String(caller.userId));
  if (admission.admitted) return;
  const seconds = Math.max(1, Math.ceil(admission.resetMs / 1000));
  throw new AppError("rate_limit_exceeded", { values: { seconds }, retryAfterMs: seconds * 1000 });
}

function groupOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A model name in a path is decoded once; it may hold a slash, nothing that would leave its segment. */
function pathModel(segment: string): string {
  let model: string;
  try {
    model = decodeURIComponent(segment);
  } catch {
    throw new AppError("invalid_model", { param: "model" });
  }
  if (/[\u0000-\u001f\u007f?#\\]|\.\./.test(model)) throw new AppError("invalid_model", { param: "model" });
  return model;
}

/** A key in the query authenticates and goes nowhere else. */
function withoutKey(url: string): string {
  const at = url.indexOf("?");
  if (at < 0 || !url.includes("key=", at)) return url;
  const query = new URLSearchParams(url.slice(at + 1));
  query.delete("key");
  const rest = query.toString();
  return rest === "" ? url.slice(0, at) : `${url.slice(0, at)}?${rest}`;
}

function printable(path: string): string {
  return path.slice(0, 200).replace(/[\u0000-\u001f\u007f]/g, "");
}

function sendJson(response: ServerResponse, value: unknown): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
  response.end(body);
}
