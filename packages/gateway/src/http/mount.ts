import type { IncomingMessage, ServerResponse } from "node:http";
import type { Endpoint } from "@fairway/wire";
import type { Credentials } from "../identity/passwords/credentials.ts";
import { ANONYMOUS, type Identified, type Principal } from "../identity/principal.ts";
import type { HumanCheck } from "../identity/second-factor/turnstile.ts";
import type { AppError } from "../lib/app-error.ts";
import { Refusal } from "../lib/refusal.ts";
import type { BodyMemory } from "../limits/body-memory.ts";
import type { Limiter } from "../limits/limiter.ts";
import type { Logger } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import { ClientGone, readJsonBody, readText } from "./body.ts";
import { requireContext, type RequestContext } from "./context.ts";
import type { Call, Route } from "./endpoint.ts";
import { sendJson, sendText } from "./envelope.ts";
import { toFailure, unknownUrl, type Failure } from "./errors.ts";
import {
  authorize,
  resolveCaller,
  checkOrigin,
  checkRate,
  isDeadAccount,
  findPrincipal,
  rateHeaders,
  type ApiRules,
} from "./guards.ts";
import { parseBody, parseInput, parseParams, queryObject } from "./input.ts";
import { waitedFor, type Draining } from "./open-calls.ts";
import { createRouteTable, type Found, type RouteTable } from "./route-table.ts";

export interface MountDeps {
  readonly routes: readonly Route[];
  readonly credentials: Credentials;
  /**
   * Throws `turnstile_pending`, `turnstile_failed` or `turnstile_unreachable` if the human check is on and not passed.
   */
  readonly humanCheck: HumanCheck;
  readonly limiter: Limiter;
  readonly rules: ApiRules;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "answered">;
  /** The memory limit for all bodies of this process together. */
  readonly memory: BodyMemory;
  /** Absent if no process ends. */
  readonly draining?: Draining;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: RequestContext;
  readonly path: string;
  readonly search: string;
}

/**
 * Returns the handler of everything under `/api`: lookup, the checks in the order of the contract, envelope, errors.
 */
export function mountRoutes(deps: MountDeps): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const table = createRouteTable(deps.routes);
  return (request, response) => {
    const exchange = createExchange(request, response);
    const found = table.find(request.method ?? "GET", exchange.path);
    const endpoint = found?.routes[0]?.endpoint;
    const giveUp = (error: AppError) => void fail(exchange, toFailure(error, endpoint, exchange.context.requestId));
    return waitedFor(deps.draining, { request, response, endpoint, giveUp }, () => run(deps, table, exchange, found));
  };
}

async function run(deps: MountDeps, table: RouteTable, exchange: Exchange, found: Found | undefined): Promise<void> {
  const { request, response } = exchange;
  response.setHeader("Cache-Control", "no-store");
  const endpoint = found?.routes[0]?.endpoint;
  let caller: number | undefined;
  try {
    if (answersPreflight(table, exchange)) return;
    if (!found) return await fail(exchange, unknownUrl(request.method ?? "GET", exchange.path));
    caller = await serve(deps, exchange, found);
  } catch (thrown) {
    if (thrown instanceof ClientGone || response.headersSent) return void response.destroy();
    const failure = toFailure(thrown, endpoint, exchange.context.requestId);
    if (failure.isFault) logFault(deps.log, exchange, endpoint, thrown);
    await fail(exchange, failure);
  } finally {
    report(deps, exchange, endpoint, caller);
  }
}

function createExchange(request: IncomingMessage, response: ServerResponse): Exchange {
  const url = (request as { originalUrl?: string }).originalUrl ?? request.url ?? "/";
  const mark = url.indexOf("?");
  return {
    request,
    response,
    context: requireContext(request),
    path: mark < 0 ? url : url.slice(0, mark),
    search: mark < 0 ? "" : url.slice(mark),
  };
}

/** Answers the preflight of calls that any origin may read; every other OPTIONS is an unknown URL. */
function answersPreflight(table: RouteTable, exchange: Exchange): boolean {
  const { request, response, path } = exchange;
  if (!table.isCrossOrigin(path)) return false;
  response.setHeader("Access-Control-Allow-Origin", "*");
  if (request.method !== "OPTIONS") return false;
  response.setHeader("Access-Control-Allow-Methods", "GET");
  response.setHeader("Access-Control-Allow-Headers", "Authorization");
  response.setHeader("Access-Control-Max-Age", "86400");
  response.writeHead(204).end();
  return true;
}

/** Runs the checks and the handler; returns the caller's user id for the log. */
async function serve(deps: MountDeps, exchange: Exchange, found: Found): Promise<number | undefined> {
  const { request, response, context } = exchange;
  const [route] = found.routes;
  if (!route) throw new Error("the route table answered without a route");
  checkOrigin(request, route.endpoint);
  if (/%00/.test(exchange.path + exchange.search)) throw new Refusal("invalid_parameter", { status: 400 });
  const identified = await identify(deps, exchange, route.endpoint);
  const principal = findPrincipal(identified);
  const rate = await checkRate(deps.limiter, deps.rules, route.endpoint, { ip: context.ip, principal });
  for (const [name, value] of Object.entries(rate ? rateHeaders(rate) : {})) response.setHeader(name, value);
  const query = queryObject(exchange.search);
  if (route.endpoint.humanCheck) await deps.humanCheck(request, response, firstText(query["turnstile"]), context);
  if (isDeadAccount(identified)) await deps.credentials.signOut(request, response, context.isSecure);
  authorize(request, route.endpoint, identified);
  const chosen = found.routes.length === 1 ? route : chooseByQuery(found, query);
  const input = { params: found.params, query, caller: resolveCaller(chosen.endpoint, principal), memory: deps.memory };
  await answer(exchange, chosen, await createCall(exchange, chosen, input));
  return principal?.userId;
}

/** Calls that anyone may make do not depend on the session table: they work while the database is unavailable. */
async function identify(deps: MountDeps, exchange: Exchange, endpoint: Endpoint): Promise<Identified> {
  const { request, response, context } = exchange;
  try {
    return await deps.credentials.identify(request, response, context.isSecure);
  } catch (cause) {
    if (endpoint.fails.includes("database_unavailable")) throw new Refusal("database_unavailable", { cause });
    if (endpoint.access !== "none") throw cause;
    deps.log.warn("credentials could not be read", { error: cause });
    return ANONYMOUS;
  }
}

function chooseByQuery(found: Found, query: unknown): Route {
  const match = found.routes.find(
    ({ endpoint }) => endpoint.query === undefined || endpoint.query.safeParse(query).success,
  );
  const last = found.routes.at(-1);
  if (!last) throw new Error("the route table answered without a route");
  return match ?? last;
}

interface Answer {
  readonly call: Call<Endpoint>;
  readonly siblings: Record<string, unknown>;
  readonly text: { message: string };
}

interface Input {
  readonly params: Found["params"];
  readonly query: unknown;
  readonly caller: Principal | undefined;
  readonly memory: BodyMemory;
}

async function createCall(exchange: Exchange, { endpoint }: Route, input: Input): Promise<Answer> {
  const { request, response, context } = exchange;
  const { params, query, caller, memory } = input;
  const reading = { bytes: endpoint.bodyBytes, memory };
  if (endpoint.method !== "GET") response.once("close", () => memory.release(request));
  const siblings = Object.create(null) as Record<string, unknown>;
  const text = { message: "" };
  const call: Call<Endpoint> = {
    params: parseParams(endpoint.params, params),
    query: parseInput(endpoint.query, query),
    body: endpoint.body
      ? parseBody(endpoint, await readJsonBody(request, { ...reading, takesList: takesList(endpoint) }))
      : undefined,
    caller: caller as Call<Endpoint>["caller"],
    context,
    request,
    response,
    text: () => readText(request, reading),
    setTotal: (total) => void response.setHeader("X-Total-Count", String(total)),
    sibling: (name, value) => void (siblings[name] = value),
    message: (message) => void (text.message = message),
  };
  return { call, siblings, text };
}

function takesList(endpoint: Endpoint): boolean {
  return (endpoint.body?._zod.def as { type?: string } | undefined)?.type === "array";
}

async function answer(exchange: Exchange, route: Route, { call, siblings, text }: Answer): Promise<void> {
  const { request, response } = exchange;
  const data = await route.handler(call);
  if (response.headersSent || response.writableEnded) return;
  switch (route.endpoint.answer) {
    case "envelope":
      return sendJson(request, response, 200, { success: true, message: text.message, data, ...siblings });
    case "raw":
      return sendJson(request, response, 200, data ?? null);
    case "text":
      return sendText(request, response, 200, typeof data === "string" ? data : "");
    case "stream":
    case "file":
      response.end();
  }
}

/** Codes of failures after which the gateway does not wait for the rest of a body. */
const UNREAD: ReadonlySet<unknown> = new Set(["request_timeout", "server_shutdown"]);

async function fail({ request, response }: Exchange, failure: Failure): Promise<void> {
  if (response.destroyed) return;
  if (failure.retryAfterSeconds !== undefined) response.setHeader("Retry-After", String(failure.retryAfterSeconds));
  if (failure.status === 413 || UNREAD.has(failure.body["code"])) response.setHeader("Connection", "close");
  await sendJson(request, response, failure.status, failure.body);
}

function firstText(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value) ?? "";
}

function logFault(log: Logger, exchange: Exchange, endpoint: Endpoint | undefined, thrown: unknown): void {
  log.error("management call failed", {
    request_id: exchange.context.requestId,
    endpoint: endpoint?.name,
    error: thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown,
  });
}

/**
 * Writes one log line and one sample per call; unknown paths share one route, whatever they are. Query strings stay out
 * of the log, because some of them hold keys.
 */
function report(
  { log, metrics }: MountDeps,
  { request, response, context, path }: Exchange,
  endpoint: Endpoint | undefined,
  userId: number | undefined,
): void {
  const { method = "GET" } = request;
  const { statusCode: status } = response;
  const ms = performance.now() - context.startedAt;
  const route = endpoint?.path ?? "unknown";
  metrics.answered({ route, method: endpoint?.method ?? "other", code: status, seconds: ms / 1000 });
  log.info("management call", {
    request_id: context.requestId,
    method,
    path,
    endpoint: endpoint?.name,
    status,
    user: userId,
    ip: context.ip,
    ms: Math.round(ms),
  });
}
