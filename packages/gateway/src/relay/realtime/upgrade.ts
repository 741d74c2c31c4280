import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import { errorAnswer } from "../../dialects/core/errors.ts";
import { openaiRealtime } from "../../dialects/endpoints/openai-realtime.ts";
import { AppError } from "../../lib/app-error.ts";
import { admitModel, servingGroups } from "../admission/model-access.ts";
import type { RequestContext } from "../reservation/reserve.ts";
import { buildBudgetAmounts, requestTerms } from "../reservation/reservation-terms.ts";
import { admitUnjudged } from "../policies/guardrail/elsewhere.ts";
import { admissionFor, type AdmissionController } from "../admission/admission-controller.ts";
import { NOTHING_USED } from "../../limits/claims.ts";
import { admitAndReserve } from "../admission/admit-and-reserve.ts";
import type { ClientConnection } from "../admission/admission-request.ts";
import { bind, conversationFor, selectionFor, toPreferred, type PipelineDeps } from "../pipeline/enter-model.ts";
import { usedBy } from "../pipeline/pipeline.ts";
import { readCallTags } from "../tags/read-tags.ts";
import { protocolHeaders } from "../ingress/protocol-headers.ts";
import type { Arrival, ReadRequestDeps } from "../ingress/read-request.ts";
import type { RelayEdge, RelayTelemetry } from "../ingress/relay.ts";
import { jsonBody } from "../body/read-body.ts";
import { whileWaiting } from "../reservation/running.ts";
import type { Conversation as AffineConversation } from "../selection/conversation.ts";
import type { RouteTarget, Selection } from "../selection/types.ts";
import { buildCallStart } from "../trace/span.ts";
import { CallProgress } from "../request/call-progress.ts";
import type { RelayRequest } from "../request/request.ts";
import { RealtimeBill } from "./bill.ts";
import { connectUpstream, MAX_FRAME_BYTES, type Candidates, type Connected } from "./connect.ts";
import type { OpenSockets } from "./open-sockets.ts";
import { RealtimeSession, SESSION_LIMITS } from "./session.ts";

export interface RealtimeDeps extends PipelineDeps {
  readonly telemetry: RelayTelemetry;
  readonly reading: Omit<ReadRequestDeps, "bodyLimits">;
  readonly edge: RelayEdge;
  readonly sockets: OpenSockets;
}

export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

const PATH = "/v1/realtime";
const SUBPROTOCOL = "realtime";
const BETA_SUBPROTOCOL = "openai-beta.realtime-v1";
const STATUS_TEXT: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  429: "Too Many Requests",
};

/** Takes WebSocket upgrades of the relay; whatever fails before the upgrade is a plain HTTP answer. */
export function createRealtime(deps: RealtimeDeps): UpgradeHandler {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  });
  return (request, socket, head) => {
    const gone = new AbortController();
    const onClose = () => gone.abort(new AppError("client_closed_request"));
    socket.once("close", onClose).on("error", onClose);
    const arrival = deps.edge.readArrival(request);
    const seen: { received: RelayRequest | undefined } = { received: undefined };
    const accept = () =>
      new Promise<WebSocket>((resolve, reject) => {
        const onLost = () => reject(new AppError("client_closed_request"));
        if (socket.closed) return onLost();
        // If an upgrade cannot be completed, only the client learns about it, and the socket closes.
        socket.off("close", onClose).once("close", onLost);
        sockets.handleUpgrade(request, socket, head, (client) => {
          socket.off("close", onLost);
          resolve(client);
        });
      });
    const client = createClientConnection(socket);
    const giveUp = (error: AppError) => gone.abort(error);
    serve(request, arrival, { seen, accept, signal: gone.signal, giveUp, client }, deps).catch((thrown: unknown) => {
      const error = AppError.from(thrown);
      const { received } = seen;
      if (received && !received.progress.isCounted) deps.reading.calls.count(received.id, received.caller.userId);
      const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
      deps.telemetry.reporter.failed(
        { ...arrival, method: "GET", path: path.slice(0, 200), request: seen.received },
        error,
      );
      refuse(socket, error, arrival.requestId);
    });
  };
}

interface Offer {
  readonly seen: { received: RelayRequest | undefined };
  /** Completes the upgrade; rejects if that cannot be done. */
  readonly accept: () => Promise<WebSocket>;
  /** Aborted when the client leaves before that, or the gateway gives up. */
  readonly signal: AbortSignal;
  readonly giveUp: (error: AppError) => void;
  readonly client: ClientConnection;
}

/** Throws if no session can begin at all. */
function checkOpen(request: IncomingMessage, { edge, running }: RealtimeDeps): void {
  const [path = ""] = (request.url ?? "").split("?", 1);
  if (path !== PATH) throw new AppError("unknown_url", { values: { method: "GET", path } });
  if (edge.isDraining()) throw new AppError("server_shutdown");
  if (edge.maxInflight > 0 && running.requests >= edge.maxInflight)
    throw new AppError("overloaded", { retryAfterMs: 1_000 });
}

async function serve(request: IncomingMessage, arrival: Arrival, offer: Offer, deps: RealtimeDeps): Promise<void> {
  checkOpen(request, deps);
  const received = await readUpgrade(request, arrival, deps.reading);
  offer.seen.received = received;
  const left = deps.sockets.open(received.caller, deps.snapshots.current().options.TokenSocketLimit);
  await serveSession(received, offer, deps).finally(left);
}

async function serveSession(received: RelayRequest, offer: Offer, deps: RealtimeDeps): Promise<void> {
  const { tracing } = deps.telemetry;
  if (tracing) received.progress.traced(tracing.begin(buildCallStart(received)));
  const snapshot = deps.snapshots.current();
  admitModel(received.caller, received.spec);
  const groups = servingGroups(received.caller, snapshot);
  admitUnjudged(received, groups, snapshot);
  const conversation = conversationFor(received, groups, snapshot);
  const preferred = conversation && deps.routing.affinity.find(conversation.name);
  const selection = selectionFor(received, groups, deps, preferred);
  received.progress.chose(selection);
  try {
    const opening = openSession({ request: received, snapshot, groups, money: deps.money, deps }, selection, offer);
    const opened = await opening.catch((error: unknown) => {
      selection.unused();
      throw error;
    });
    const isBound =
      conversation !== undefined && bind(received, conversation, { preferred, first: opened.first }, deps.routing);
    await connectAndConverse(received, { ...opened, selection, conversation, isBound }, offer, deps);
  } finally {
    selection.leave();
  }
}

/** Everything that a session has before its upstream is called. */
interface OpenedSession extends Candidates {
  readonly bill: RealtimeBill;
  readonly conversation: AffineConversation | undefined;
}

async function connectAndConverse(
  received: RelayRequest,
  { bill, conversation, ...candidates }: OpenedSession,
  offer: Offer,
  deps: RealtimeDeps,
): Promise<void> {
  const { admission } = candidates;
  const connecting = { isStream: false, renew: () => renewBoth(admission, bill), stop: offer.giveUp };
  deps.running.add(connecting);
  let connected: Connected | undefined;
  let client: WebSocket;
  try {
    connected = await connectUpstream(received, candidates, offer.signal, deps);
    client = await offer.accept();
  } catch (error) {
    connected?.socket.terminate();
    admission?.end(NOTHING_USED);
    await bill.release();
    throw error;
  } finally {
    deps.running.remove(connecting);
  }
  bill.serve(connected.target);
  if (conversation) {
    const lifeMs = conversation.rule.ttl_seconds * 1000;
    deps.routing.affinity.served(conversation.name, toPreferred(connected.target), lifeMs);
  }
  await converse(received, { ...connected, client, bill, admission }, deps);
}

/** Takes the limits and the money of a session, which hold as long as it lasts. */
async function openSession(
  context: RequestContext & { readonly deps: RealtimeDeps },
  selection: Selection,
  { client, giveUp }: Offer,
): Promise<{
  readonly first: RouteTarget | undefined;
  readonly bill: RealtimeBill;
  readonly admission: AdmissionController | undefined;
}> {
  const { request, snapshot, groups, deps } = context;
  const admission = admissionFor(request, snapshot, deps.policy.admission);
  const first = selection.next();
  const terms = requestTerms(request, snapshot, groups);
  if (!admission) {
    const bill = RealtimeBill.open(context, terms);
    return { first, bill: await whileWaiting(deps.running, { giveUp }, bill, bill), admission };
  }
  const admitting = admission.enter(first, selection, {
    client,
    budgetAmounts: () => ({ amount: buildBudgetAmounts(terms).amount }),
  });
  const reserving = RealtimeBill.open(context, terms, admission);
  const admitted = admitAndReserve(admission, admitting, reserving, { release: (bill) => bill.release() });
  const leave = (error: AppError) => {
    giveUp(error);
    admission.giveUp(error);
  };
  const { first: entered, reservation: bill } = await whileWaiting(
    deps.running,
    { giveUp: leave, renew: () => admission.renew() },
    reserving,
    admitted,
  );
  return { first: entered, bill, admission };
}

async function renewBoth(admission: AdmissionController | undefined, bill: RealtimeBill): Promise<void> {
  await Promise.all([admission?.renew(), bill.renew()]);
}

interface Conversation extends Connected {
  readonly client: WebSocket;
  readonly bill: RealtimeBill;
  readonly admission: AdmissionController | undefined;
}

async function converse(
  received: RelayRequest,
  { socket, target, client, bill, admission }: Conversation,
  deps: RealtimeDeps,
): Promise<void> {
  const { RealtimeLingerMs: lingerMs, RealtimeIdleSeconds: idleSeconds } = deps.snapshots.current().options;
  const limits = { ...SESSION_LIMITS, lingerMs, idleMs: idleSeconds * 1_000 };
  const session = new RealtimeSession(client, socket, bill, limits);
  const tried = [{ target, upstreamRequestId: undefined }];
  const handle = {
    isStream: true,
    tried,
    renew: () => renewBoth(admission, bill),
    stop: (error: AppError) => session.stop(error, "server_shutdown"),
  };
  deps.running.add(handle);
  try {
    const reason = await session.ended;
    await bill.close(reason);
    deps.telemetry.reporter.delivered({
      request: received,
      result: { kind: "delivered", reason },
      tried,
      session: bill,
    });
  } finally {
    deps.running.remove(handle);
    admission?.end({ ...usedBy(bill), isSuccess: true });
  }
}

async function readUpgrade(
  request: IncomingMessage,
  arrival: Arrival,
  deps: RealtimeDeps["reading"],
): Promise<RelayRequest> {
  const caller = await deps.authenticator.byKey(request, arrival.ip);
  deps.calls.check(caller.userId);
  const url = request.url ?? PATH;
  const query = new URLSearchParams(url.split("?")[1] ?? "");
  const body = jsonBody(Buffer.from(JSON.stringify({ model: query.get("model") ?? "" })));
  const offered = (request.headers["sec-websocket-protocol"] ?? "").split(",").map((item) => item.trim());
  const travelling = protocolHeaders(request.headers, (member, value) => deps.deriveId(caller.userId, member, value));
  return {
    id: arrival.requestId,
    spec: openaiRealtime.inspect(body, "realtime", undefined),
    dialect: openaiRealtime,
    body,
    contentType: "application/json",
    caller,
    clientHeaders: request.headers,
    url,
    protocolHeaders: offered.includes(BETA_SUBPROTOCOL) ? { "openai-beta": "realtime=v1", ...travelling } : travelling,
    startedAt: arrival.startedAt,
    autoGroup: caller.group === "auto" ? "auto" : undefined,
    isPlayground: false,
    progress: new CallProgress(),
    tags: readCallTags({ headers: request.headers, body: {}, caller, settings: deps.snapshots.current().tags }),
  };
}

/** An accepted upgrade has no limit headers; a refusal has those of its error. */
function createClientConnection(socket: Duplex): ClientConnection {
  return {
    get closed() {
      return socket.closed;
    },
    headersSent: true,
    setHeader: () => undefined,
    once: (event, listener) => socket.once(event, listener),
    off: (event, listener) => socket.off(event, listener),
  };
}

function refuse(socket: Duplex, error: AppError, requestId: string): void {
  if (socket.destroyed || !socket.writable) return;
  const { status, headers, body } = errorAnswer("openai", error, requestId);
  const lines = Object.entries({
    ...headers,
    "content-length": String(body.length),
    "x-request-id": requestId,
    connection: "close",
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_TEXT[status] ?? "Refused"}\r\n${lines.join("")}\r\n${body.toString("utf8")}`);
}
