import WebSocket from "ws";
import { AppError } from "../../lib/app-error.ts";
import type { CallSpan } from "../../observability/tracing/call-span.ts";
import { readProxy } from "../../providers/core/proxy.ts";
import type { UpstreamCall } from "../../providers/core/types.ts";
import { UpstreamRefusal } from "../../providers/core/failed-answer.ts";
import { buildCall } from "../conversion/build-call.ts";
import { DEFAULT_REST_MS } from "../selection/cooldown.ts";
import { notBuilt, refusedByUpstream, unreachable, type Failure } from "../upstream/failure.ts";
import type { AdmissionController } from "../admission/admission-controller.ts";
import { firstAdmitted } from "../admission/candidates.ts";
import type { PipelineDeps, UpstreamAccess } from "../pipeline/enter-model.ts";
import { classifyRefusal } from "../selection/read-failure.ts";
import { Retries } from "../pipeline/retry.ts";
import type { RouteTarget, Selection } from "../selection/types.ts";
import { buildAttemptStart } from "../trace/span.ts";
import type { RelayRequest } from "../request/request.ts";

export const MAX_FRAME_BYTES = 16 * 1024 * 1024;
const HANDSHAKE_MS = 10_000;
const SWITCHED = 101;
const MAX_REFUSAL_BYTES = 64 * 1024;
/** Headers of a plain call that a WebSocket sets itself. */
const NOT_FOR_SOCKETS = ["content-type", "content-length", "accept", "accept-encoding"];

/** An open, paused conversation with the upstream. */
export interface Connected {
  readonly socket: WebSocket;
  readonly target: RouteTarget;
}

/** The channels that the conversation may use. */
export interface Candidates {
  readonly selection: Selection;
  /** The channel that was chosen already. */
  readonly first: RouteTarget | undefined;
  readonly admission: AdmissionController | undefined;
  /** True if only the first channel may serve. */
  readonly isBound: boolean;
}

type Tried = { readonly socket: WebSocket } | { readonly failure: Failure };

/** Opens the upstream's side, on another channel if one refuses. Throws the client's error. */
export async function connectUpstream(
  request: RelayRequest,
  { selection, first, admission, isBound }: Candidates,
  signal: AbortSignal,
  deps: Pick<PipelineDeps, "snapshots" | "routing" | "upstream">,
): Promise<Connected> {
  const retries = new Retries(request, deps.snapshots.current(), selection, { ...deps.routing.retry, isBound });
  const { progress } = request;
  for (let target = first; target; target = await firstAdmitted(retries.next(), selection, admission)) {
    const startedAt = performance.now();
    signal.throwIfAborted();
    progress.span?.attemptStarted(buildAttemptStart({ target }));
    const tried = await attempt(request, target, signal, deps.upstream);
    if (progress.span) endSpan(progress.span, target, tried);
    if (signal.aborted && "socket" in tried) tried.socket.terminate();
    signal.throwIfAborted();
    if ("socket" in tried) {
      deps.routing.guard.observe({ request, target, startedAt }, { kind: "delivered", reason: "stop" });
      return { socket: tried.socket, target };
    }
    deps.routing.guard.observe({ request, target, startedAt }, { kind: "failed", failure: tried.failure });
    retries.failed(target, tried.failure);
  }
  throw retries.lastError();
}

/** The span covers the handshake; the conversation is the time of the call. */
function endSpan(span: CallSpan, { channel, plan }: RouteTarget, tried: Tried): void {
  const isOpen = "socket" in tried;
  const url = isOpen ? tried.socket.url : channel.baseUrl || plan.provider.baseUrl;
  const status = isOpen ? SWITCHED : tried.failure.error.status;
  const errorCode = isOpen ? undefined : (tried.failure.error.code ?? tried.failure.outcome);
  span.attemptEnded({ status, host: URL.parse(url)?.host ?? "", upstreamRequestId: undefined, errorCode });
}

async function attempt(
  request: RelayRequest,
  target: RouteTarget,
  signal: AbortSignal,
  upstream: UpstreamAccess,
): Promise<Tried> {
  try {
    const { call } = await buildCall(request, target, upstream);
    return await open(call, target, signal, upstream);
  } catch (error) {
    if (error instanceof UpstreamRefusal)
      return { failure: refusedByUpstream(error.upstreamError, target.channel, DEFAULT_REST_MS) };
    return { failure: notBuilt(AppError.from(error)) };
  }
}

function open(call: UpstreamCall, target: RouteTarget, signal: AbortSignal, upstream: UpstreamAccess): Promise<Tried> {
  return new Promise((resolve) => {
    const headers = Object.fromEntries(
      Object.entries(call.headers).filter(([name]) => !NOT_FOR_SOCKETS.includes(name)),
    );
    const socket = new WebSocket(call.url, {
      ...upstream.upstreams.socketOptions(call.url, readProxy(target.channel)),
      headers,
      handshakeTimeout: HANDSHAKE_MS,
      maxPayload: MAX_FRAME_BYTES,
      perMessageDeflate: false,
      followRedirects: false,
    });
    const onAbort = () => socket.terminate();
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    socket.once("open", () => {
      signal.removeEventListener("abort", onAbort);
      socket.pause();
      resolve({ socket });
    });
    socket.once("unexpected-response", (_request, answer) => {
      const parts: Buffer[] = [];
      let size = 0;
      answer.on("data", (part: Buffer) => {
        parts.push(part);
        size += part.length;
        if (size >= MAX_REFUSAL_BYTES) answer.destroy();
      });
      answer.once("close", () => {
        const head = { status: answer.statusCode ?? 502, headers: answer.headers as Record<string, string> };
        resolve({ failure: classifyRefusal({ ...head, body: Buffer.concat(parts) }, target, upstream) });
        socket.terminate();
      });
    });
    socket.on("error", (error) => resolve({ failure: unreachable(error) }));
  });
}
