import { pipeline } from "node:stream/promises";
import { AppError } from "../lib/app-error.ts";
import { resolveFilesPath } from "../providers/core/route-url.ts";
import type { UpstreamAnswer } from "../providers/core/types.ts";
import { unreachable } from "../relay/upstream/failure.ts";
import { findAccount } from "./accounts.ts";
import { readUpstreamFiles } from "./files/upstream-files.ts";
import { requireProtocol } from "./protocols/index.ts";
import type { BatchCall, BatchDeps, BatchRow } from "./types.ts";
import { BatchRefusal } from "./upstream.ts";

const RESULTS_TIMEOUT_MS = 60_000;

/** Opens the results of a batch as the upstream stores them. Rejects with BatchRefusal and errors of the network. */
export async function openResults(
  row: BatchRow,
  deps: Pick<BatchDeps, "snapshots" | "hashKey" | "upstream">,
  signal?: AbortSignal,
): Promise<UpstreamAnswer> {
  const account = findAccount(row, deps);
  if (!account) throw new AppError("unsupported_by_channel", { message: "The channel of the batch was deleted." });
  const path = requireProtocol(row.dialect).paths(account.support).results(row.upstream_id);
  if (!path) throw new AppError("internal_error");
  const accept = "application/x-jsonl, application/json";
  return deps.upstream.stream(account, { ...path, accept, timeoutMs: RESULTS_TIMEOUT_MS, ...(signal && { signal }) });
}

/** Opens everything that the results of a batch are in, answers first. */
export async function openAllResults(
  row: BatchRow,
  deps: Pick<BatchDeps, "snapshots" | "hashKey" | "upstream">,
  signal?: AbortSignal,
): Promise<AsyncIterable<Uint8Array>[]> {
  const protocol = requireProtocol(row.dialect);
  if (!protocol.hasFiles(row))
    return row.succeeded > 0 || protocol.hasResults(row) ? [(await openResults(row, deps, signal)).body] : [];
  const { output, error } = readUpstreamFiles(row);
  if (row.succeeded > 0 && output === undefined) throw new Error("the upstream has no file with the results yet");
  return [output, error].flatMap((id) => (id === undefined ? [] : [readFile(row, id, deps, signal)]));
}

async function* readFile(
  row: BatchRow,
  id: string,
  deps: Pick<BatchDeps, "snapshots" | "hashKey" | "upstream">,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const account = findAccount(row, deps);
  if (!account?.provider.files) throw new Error("the channel of the batch stores no files");
  const { files } = account.provider;
  const rest = files.dialect === "gemini" ? ":download?alt=media" : "/content";
  const path = `${resolveFilesPath(files, account.channel)}/${encodeURIComponent(id)}${rest}`;
  const request = { method: "GET", path, accept: "*/*", timeoutMs: RESULTS_TIMEOUT_MS } as const;
  yield* (await deps.upstream.stream(account, { ...request, ...(signal && { signal }) })).body;
}

/** Streams the results to the client, unedited, any number of times; nothing is booked here. */
export async function sendResults(call: BatchCall, row: BatchRow, deps: BatchDeps): Promise<void> {
  if (row.phase === "open") throw new AppError("batch_not_ready", { values: { id: row.id } });
  const { response } = call;
  const gone = new AbortController();
  response.once("close", () => gone.abort(new AppError("client_closed_request")));
  const answer = await openResults(row, deps, gone.signal).catch((error: unknown) => {
    throw toClientError(error, gone.signal);
  });
  response.writeHead(200, {
    "content-type": answer.headers["content-type"] ?? "application/x-jsonl",
    "cache-control": "no-cache",
    "x-content-type-options": "nosniff",
  });
  await pipeline(answer.body, response).catch((error: unknown) => {
    throw gone.signal.aborted ? gone.signal.reason : new AppError("upstream_stream_interrupted", { cause: error });
  });
}

/** Returns the client's error for a call of the upstream that failed. */
export function toClientError(error: unknown, signal?: AbortSignal): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof BatchRefusal) return error.error;
  if (signal?.aborted) return AppError.from(signal.reason);
  return unreachable(error instanceof Error ? error : new Error(String(error))).error;
}
