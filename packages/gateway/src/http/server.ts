import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Server as NetServer, type AddressInfo, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import express, { type RequestHandler } from "express";
import type { Clock } from "../lib/clock.ts";
import { createIds } from "../lib/ids.ts";
import { clientAddress, countedAddress, type Network } from "../lib/net/ip.ts";
import { Refusal } from "../lib/refusal.ts";
import type { Rule } from "../limits/limiter.ts";
import type { Logger } from "../observability/log.ts";
import { answerBrokenRequests, refuseAmbiguous } from "./broken-requests.ts";
import { isAmbiguous, limitConnections } from "./connections.ts";
import { requireContext, setContext } from "./context.ts";
import { sendJson } from "./envelope.ts";
import { toFailure, unknownUrl } from "./errors.ts";
import { settleMessageShapes } from "./message-shapes.ts";
import { mountRoutes, type MountDeps } from "./mount.ts";
import { setSecurityHeaders } from "./security.ts";
import { movedPage, unversionedPath } from "./other-paths.ts";
import { createStatic, type StaticDeps } from "./static.ts";
import { decodePercent } from "../lib/text/percent-encoding.ts";

export interface HttpServerDeps extends MountDeps {
  /** Serves model traffic; passes on all other requests. Runs before Express, which would only slow it down. */
  readonly relay?: (request: IncomingMessage, response: ServerResponse, next: () => void) => void;
  /** Takes WebSocket upgrades; others are refused. */
  readonly upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Serves the directories of companies. */
  readonly scim?: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly console: StaticDeps;
  /** Rate rule for the console's files, by address. */
  readonly webRule: Rule | undefined;
  readonly trustedProxies: readonly Network[];
  /** Time for a whole request to arrive; 0 = no limit. */
  readonly requestTimeoutMs: number;
  /** Open connections of one address; 0 = no limit. */
  readonly maxConnectionsPerAddress: number;
  readonly clock: Clock;
}

export interface HttpServer {
  readonly server: Server;
  /** Resolves to the port that is actually open. */
  listen(port: number, host: string): Promise<number>;
  /**
   * Stops accepting connections. Idle ones stay for `idleMs`: a client that sends on one at that moment gets an answer
   * with `Connection: close` instead of a reset.
   */
  close(idleMs: number): Closing;
}

export interface Closing {
  /** Resolves when idle connections are closed; every open one has a request. */
  readonly idleClosed: Promise<void>;
  /** Resolves when every connection is closed. */
  readonly closed: Promise<void>;
}

/** Longer than the idle time of common load balancers (60 s), so that they never send on a closing connection. */
const KEEP_ALIVE_MS = 75_000;
const MAX_HEADER_BYTES = 16 * 1024;
/** Time for the head alone. */
const HEADERS_MS = 60_000;
/** How often requests that take too long are looked for. */
const CHECK_EVERY_MS = 5_000;

/** Creates the edge: context, relay, management API, console, in this order. */
export async function createHttpServer(deps: HttpServerDeps): Promise<HttpServer> {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", false);
  app.use(secure);
  app.use("/api", mountRoutes(deps));
  const { scim } = deps;
  if (scim) app.use("/scim/v2", (request, response) => scim(request, response));
  app.use(await consoleFiles(deps));
  const fail = failures(deps.log);
  app.use(fail as express.ErrorRequestHandler);

  settleMessageShapes();
  const { relay } = deps;
  const openContext = contexts(deps);
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: Math.min(HEADERS_MS, deps.requestTimeoutMs || HEADERS_MS),
      requestTimeout: deps.requestTimeoutMs,
      connectionsCheckingInterval: CHECK_EVERY_MS,
      shouldUpgradeCallback: (request) => deps.upgrade !== undefined && mayUpgrade(request),
    },
    (request, response) => {
      if (isAmbiguous(request)) return refuseAmbiguous(request.socket);
      openContext(request);
      const { requestId } = requireContext(request);
      response.setHeader("X-Oneapi-Request-Id", requestId);
      response.setHeader("x-request-id", requestId);
      const others = () => void app(request, response);
      if (!relay) return others();
      try {
        relay(request, response, others);
      } catch (error) {
        void fail(error, request, response);
      }
    },
  );
  answerBrokenRequests(server);
  limitConnections(server, { most: deps.maxConnectionsPerAddress, trustedProxies: deps.trustedProxies });
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    openContext(request);
    deps.upgrade?.(request, socket, head);
  });
  return { server, listen: (port, host) => listen(server, port, host), close: (idleMs) => close(server, idleMs) };
}

/**
 * Skips offers of other protocols (`h2c`), as HTTP allows. Also skips a WebSocket behind an unanswered request: Node
 * would detach the connection at once, and answers that wait for their turn on it would never end.
 */
function mayUpgrade({ headers, socket }: IncomingMessage): boolean {
  const { _httpMessage: unanswered } = socket as Socket & { readonly _httpMessage?: ServerResponse | null };
  return headers.upgrade?.toLowerCase() === "websocket" && !unanswered;
}

function contexts(deps: HttpServerDeps): (request: IncomingMessage) => void {
  const nextId = createIds(deps.clock);
  return (request) => {
    const peer = request.socket.remoteAddress ?? "";
    const isProxied = deps.trustedProxies.some((network) => network.contains(peer));
    const protocol = String(request.headers["x-forwarded-proto"] ?? "")
      .split(",")[0]
      ?.trim();
    setContext(request, {
      requestId: nextId(),
      ip: clientAddress(peer, request.headers["x-forwarded-for"] as string | undefined, deps.trustedProxies),
      isSecure: "encrypted" in request.socket || (isProxied && protocol === "https"),
      startedAt: performance.now(),
    });
  };
}

const secure: RequestHandler = (request, response, next) => {
  setSecurityHeaders(response, requireContext(request).isSecure);
  next();
};

async function consoleFiles(deps: HttpServerDeps): Promise<RequestHandler> {
  const serve = await createStatic(deps.console);
  return async (request, response) => {
    const path = decodedPath(request.originalUrl);
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (isRead && deps.webRule) {
      const queue = await deps.limiter.take(deps.webRule, countedAddress(requireContext(request).ip));
      if (!queue.admitted) return refuseRate(request, response, queue.resetMs);
    }
    const moved = isRead ? movedPage(request.originalUrl) : undefined;
    if (moved !== undefined) return void response.writeHead(302, { Location: moved }).end();
    const isBrowser = String(request.headers.accept ?? "").includes("text/html");
    const hint = isBrowser ? undefined : unversionedPath(path);
    if (hint === undefined && isRead && (await serve(request, response, path))) return;
    const { status, body } = unknownUrl(request.method, path, hint);
    await sendJson(request, response, status, body);
  };
}

async function refuseRate(request: IncomingMessage, response: ServerResponse, resetMs: number): Promise<void> {
  response.setHeader("Retry-After", String(Math.max(1, Math.ceil(resetMs / 1000))));
  const { status, body } = toFailure(new Refusal("too_many_requests"), undefined, requireContext(request).requestId);
  await sendJson(request, response, status, body);
}

function decodedPath(url: string): string {
  const path = url.split("?", 1)[0] ?? "/";
  return decodePercent(path) ?? path;
}

type Fail = (error: unknown, request: IncomingMessage, response: ServerResponse, next?: unknown) => Promise<void>;

/** The last resort; handlers answer their own errors. Express recognizes it by its four parameters. */
function failures(log: Logger): Fail {
  return async (error, request, response, _next) => {
    const { requestId } = requireContext(request);
    log.error("request failed outside its handler", { request_id: requestId, error });
    if (response.headersSent) return void response.destroy();
    const { status, body } = toFailure(error, undefined, requestId);
    await sendJson(request, response, status, body);
  };
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function close(server: Server, idleMs: number): Closing {
  // Closing the `http.Server` would end idle connections at once.
  const closed = new Promise<void>((resolve, reject) => {
    NetServer.prototype.close.call(server, (error) => (error ? reject(error) : resolve()));
  });
  if (idleMs === 0) {
    server.closeIdleConnections();
    return { idleClosed: Promise.resolve(), closed };
  }
  const over = new AbortController();
  const idleClosed = Promise.race([closed, pause(idleMs, undefined, over).catch(() => {})]).then(() => {
    over.abort();
    server.closeIdleConnections();
  });
  return { idleClosed, closed };
}
