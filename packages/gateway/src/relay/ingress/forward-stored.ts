import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { openaiResponses } from "../../dialects/openai-responses/index.ts";
import type { Caller } from "../../identity/authentication/caller.ts";
import { AppError } from "../../lib/app-error.ts";
import { sendCall, type CollectedAnswer } from "../upstream/collected-answer.ts";
import { readProxy } from "../../providers/core/proxy.ts";
import type { UpstreamAnswer } from "../../providers/core/types.ts";
import { buildCall } from "../conversion/build-call.ts";
import { unreachable } from "../upstream/failure.ts";
import type { PipelineDeps, UpstreamAccess } from "../pipeline/enter-model.ts";
import { jsonBody } from "../body/read-body.ts";
import { classifyRefusal } from "../selection/read-failure.ts";
import type { Arrival } from "./read-request.ts";
import type { RouteTarget } from "../selection/types.ts";
import { pinnedAccountTarget } from "../selection/pinned-target.ts";
import { CallProgress } from "../request/call-progress.ts";
import type { RelayRequest } from "../request/request.ts";
import type { ResponseOwner } from "../stateful/owners.ts";
import { answerStored, sendJson, type StoredCall } from "../stateful/read-stored.ts";
import { locateResponse } from "../stateful/response-locator.ts";

type ForwardDeps = Pick<PipelineDeps, "snapshots" | "routing" | "upstream">;

/** The call and its caller. */
export interface Asked {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly arrival: Arrival;
  readonly caller: Caller;
}

const QUERY = [
  "include",
  "include[]",
  "stream",
  "starting_after",
  "include_obfuscation",
  "limit",
  "order",
  "after",
  "before",
];
const MAX_FAILURE_BYTES = 64 * 1024;

/** Reads, cancels or deletes a response where it is stored. Free, and without a log row. */
export async function forwardStored(call: StoredCall, asked: Asked, deps: ForwardDeps): Promise<void> {
  const { upstream } = deps;
  const { userId } = asked.caller;
  const { stored, owner } = await locateResponse(call.id, userId, upstream);
  if (owner) return forwardTo(owner, call, asked, deps);
  const query = new URLSearchParams((asked.request.url ?? "").split("?")[1] ?? "");
  sendJson(asked.response, await answerStored({ ...call, userId, query }, stored, upstream.responseStore));
}

/** Forwards the call to the account that stores the response. */
async function forwardTo(owner: ResponseOwner, call: StoredCall, asked: Asked, deps: ForwardDeps): Promise<void> {
  const { caller, response } = asked;
  const request = buildRequest(asked);
  const target = pinnedAccountTarget(
    deps.snapshots.current(),
    { ...owner, group: caller.group },
    request,
    deps.routing.selection,
  );
  const gone = new AbortController();
  response.once("close", () => gone.abort(new AppError("client_closed_request")));
  const answer = await send(call, { request, target, signal: gone.signal }, deps.upstream);
  if (answer.status < 200 || answer.status > 299)
    throw classifyRefusal(await failureFrom(answer, gone.signal), target, deps.upstream).error;
  if (call.method === "DELETE" && call.rest === "") await deps.upstream.owners.forget(call.id, caller.userId);
  const type = answer.headers["content-type"] ?? "application/json";
  response.writeHead(200, { "content-type": type, "cache-control": "no-cache" });
  await pipeline(withFault(answer.body, gone.signal), response).catch((error: unknown) => {
    throw !(error instanceof AppError) && gone.signal.aborted ? gone.signal.reason : error;
  });
}

/** Attributes a broken answer to the client or the upstream. */
async function* withFault(body: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (cause) {
    throw signal.aborted ? signal.reason : new AppError("upstream_stream_interrupted", { cause });
  }
}

/** Reads as much of an error body as its message needs, even if the rest never arrives. */
async function failureFrom(answer: UpstreamAnswer, signal: AbortSignal): Promise<CollectedAnswer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of withFault(answer.body, signal)) {
      parts.push(chunk);
      size += chunk.length;
      if (size >= MAX_FAILURE_BYTES) break;
    }
  } catch (error) {
    if (size === 0 || signal.aborted) throw error;
  }
  const body = Buffer.concat(parts).subarray(0, MAX_FAILURE_BYTES);
  return { status: answer.status, headers: answer.headers, body };
}

function buildRequest({ request, arrival, caller }: Asked): RelayRequest {
  const body = jsonBody(Buffer.from('{"model":"stored-response","input":"-"}'));
  return {
    id: arrival.requestId,
    spec: openaiResponses.inspect(body, "responses", undefined),
    dialect: openaiResponses,
    body,
    contentType: "application/json",
    caller,
    url: request.url ?? "",
    protocolHeaders: {},
    startedAt: arrival.startedAt,
    autoGroup: undefined,
    isPlayground: false,
    progress: new CallProgress(),
  };
}

interface Sending {
  readonly request: RelayRequest;
  readonly target: RouteTarget;
  readonly signal: AbortSignal;
}

async function send({ method, id, rest }: StoredCall, { request, target, signal }: Sending, upstream: UpstreamAccess) {
  const { call } = await buildCall(request, target, upstream);
  call.url.pathname += `/${encodeURIComponent(id)}${rest}`;
  for (const [name, value] of new URLSearchParams(request.url.split("?")[1] ?? ""))
    if (QUERY.includes(name)) call.url.searchParams.append(name, value);
  call.method = method;
  call.body = undefined;
  call.headers["accept"] = "application/json, text/event-stream";
  if (method !== "POST") delete call.headers["content-type"];
  const timeouts = { headersMs: upstream.headersTimeoutMs.whole, idleMs: upstream.idleTimeoutMs };
  try {
    return await sendCall(upstream.upstreams, call, { proxy: readProxy(target.channel), timeouts, signal });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw unreachable(error instanceof Error ? error : new Error(String(error))).error;
  }
}
