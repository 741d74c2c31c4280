import { AppError } from "../lib/app-error.ts";
import { isLoopback } from "../lib/net/ip.ts";
import { readQuery, type RouteArrival } from "../relay/ingress/route-arrival.ts";
import { readStoreDialect } from "../relay/ingress/store-dialect.ts";
import { requireMethod, requireOwn, type AskedBatch } from "./calls/asked-batch.ts";
import { answerGeminiCreation, answerOperations, readGeminiCreation } from "./calls/gemini-calls.ts";
import { cancelBatch, deleteBatch } from "./cancel.ts";
import { createInlineBatch } from "./create.ts";
import { createBatchFromFile } from "./files/create-from-file.ts";
import { readPage, buildPage } from "./pages.ts";
import { refreshBatch } from "./poll.ts";
import { anthropicBatches } from "./protocols/anthropic.ts";
import { openaiBatches } from "./protocols/openai.ts";
import type { BatchProtocol, InlineProtocol } from "./protocols/protocol.ts";
import { sendResults } from "./results.ts";
import type { BatchCall, BatchDeps, BatchRow } from "./types.ts";

/** Answers the routes of batches; throws AppError. */
export type BatchHandler = (arrival: RouteArrival) => Promise<void>;

const MESSAGES = /^\/v1\/messages\/batches(?:\/([^/]+?)(\/cancel|\/results)?)?\/?$/;
const BATCHES = /^\/(?:v1|v1beta)\/batches(?:\/([^/:]+?)(\/cancel|:[a-z]+)?)?\/?$/i;

export function createBatchHandler(deps: BatchDeps): BatchHandler {
  return async (arrival) => {
    const { request, response, method, path, requestId, ip, startedAt } = arrival;
    const caller = await deps.authenticator.byKey(request, ip);
    const call: BatchCall = { request, response, requestId, caller, ip, startedAt };
    const body = await answerPath(path, method, call, deps);
    if (body === undefined) return;
    const bytes = Buffer.from(JSON.stringify(body));
    response.writeHead(200, { "content-type": "application/json", "content-length": bytes.length });
    response.end(bytes);
  };
}

/** Undefined = the answer was already sent. */
async function answerPath(path: string, method: string, call: BatchCall, deps: BatchDeps): Promise<unknown> {
  const creation = readGeminiCreation(path);
  if (creation) {
    requireMethod(call, method, ["POST"]);
    return answerGeminiCreation(call, creation, deps);
  }
  const messages = MESSAGES.exec(path);
  const found = messages ?? BATCHES.exec(path);
  if (!found) throw new AppError("unknown_url", { values: { method, path: path.slice(0, 200) } });
  const asked = { call, method, id: found[1], rest: found[2] ?? "" };
  if (messages) return answerMessages(asked, deps);
  const dialect = readStoreDialect(
    path.startsWith("/v1beta/") ? "gemini" : "openai",
    call.request.headers,
    readQuery(call.request),
  );
  if (dialect === "gemini") return answerOperations(asked, deps);
  if (dialect === "anthropic") throw new AppError("api_not_implemented");
  return answerBatches(asked, deps);
}

/** Answers in OpenAI's protocol. */
async function answerBatches({ call, method, id, rest }: AskedBatch, deps: BatchDeps): Promise<unknown> {
  const show = (row: BatchRow) => view(row, openaiBatches, call, deps);
  if (id === undefined) {
    requireMethod(call, method, ["GET", "POST"]);
    if (method === "POST") return show(await createBatchFromFile(call, deps));
    await deps.calls.take(call.requestId, call.caller.userId);
    const owner = { userId: call.caller.userId, dialect: openaiBatches.id };
    const { rows, hasMore } = await readPage(readQuery(call.request), owner, deps, {
      after: "after",
      before: "before",
      maxLimit: 100,
    });
    return { object: "list", ...buildPage(rows.map(show), hasMore) };
  }
  if (rest.startsWith(":")) throw new AppError("unknown_url", { values: { method, path: `/v1/batches${rest}` } });
  requireMethod(call, method, [rest === "/cancel" ? "POST" : "GET"]);
  await deps.calls.take(call.requestId, call.caller.userId);
  const row = await requireOwn(call, openaiBatches, id, deps);
  if (rest === "") return show(await refreshBatch(row, deps));
  if (row.phase === "open") return show(await cancelBatch(row, deps));
  const reason = "The batch has ended, so it cannot be cancelled.";
  throw new AppError("invalid_request", { status: 409, retryable: false, values: { reason } });
}

/** Undefined = the answer was already sent. */
async function answerMessages({ call, method, id, rest }: AskedBatch, deps: BatchDeps): Promise<unknown> {
  const protocol = anthropicBatches;
  if (id === undefined) return answerCollection(call, method, protocol, deps);
  requireMethod(call, method, rest === "" ? ["GET", "DELETE"] : [rest === "/cancel" ? "POST" : "GET"]);
  await deps.calls.take(call.requestId, call.caller.userId);
  const row = await requireOwn(call, protocol, id, deps);
  if (rest === "/cancel") return view(await cancelBatch(row, deps), protocol, call, deps);
  const fresh = await refreshBatch(row, deps);
  if (rest === "/results") return sendResults(call, fresh, deps);
  if (method === "GET") return view(fresh, protocol, call, deps);
  await deleteBatch(fresh, deps);
  return { id: row.id, type: "message_batch_deleted" };
}

async function answerCollection(
  call: BatchCall,
  method: string,
  protocol: InlineProtocol,
  deps: BatchDeps,
): Promise<unknown> {
  requireMethod(call, method, ["GET", "POST"]);
  if (method === "POST") return view(await createInlineBatch(call, protocol, deps), protocol, call, deps);
  await deps.calls.take(call.requestId, call.caller.userId);
  const owner = { userId: call.caller.userId, dialect: protocol.id };
  const { rows, hasMore } = await readPage(readQuery(call.request), owner, deps);
  return buildPage(
    rows.map((row) => view(row, protocol, call, deps)),
    hasMore,
  );
}

function view(row: BatchRow, protocol: BatchProtocol, call: BatchCall, deps: BatchDeps): unknown {
  return protocol.view(row, () => `${requirePublicUrl(call, deps)}/v1/messages/batches/${row.id}/results`);
}

/** The address is never taken from a header. A client on this machine reaches the listener by its port. */
function requirePublicUrl({ request, ip }: BatchCall, { publicUrl }: BatchDeps): string {
  const configured = publicUrl();
  if (configured !== undefined) return configured;
  const { localPort } = request.socket;
  if (isLoopback(ip) && localPort !== undefined) return `http://127.0.0.1:${localPort}`;
  throw new AppError("public_url_not_set");
}
