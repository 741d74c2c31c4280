import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { AppError } from "../../lib/app-error.ts";
import type { UpstreamAnswer } from "../../providers/core/types.ts";
import { geminiBatches, RESULT_LIST, viewOperation } from "../protocols/gemini.ts";
import { openResults, toClientError } from "../results.ts";
import { fillLists } from "../results/named-lists.ts";
import type { BatchCall, BatchDeps, BatchRow } from "../types.ts";
import { BatchRefusal } from "../upstream.ts";

/**
 * Answers with the operation. Results inside of it are as long as all answers together, so they are streamed from the
 * upstream into the operation that the gateway has stored without them. Returns the operation if it has none.
 */
export async function sendOperation(call: BatchCall, row: BatchRow, deps: BatchDeps): Promise<unknown> {
  const hasLists = !geminiBatches.hasFiles(row) && geminiBatches.hasResults(row);
  const answer = hasLists ? await openLists(call, row, deps) : undefined;
  if (!answer) return geminiBatches.view(row, () => "");
  call.response.writeHead(200, { "content-type": "application/json", "cache-control": "no-cache" });
  const frame = JSON.stringify(viewOperation(row));
  await pipeline(Readable.from(fillLists(frame, answer.body, RESULT_LIST)), call.response).catch((cause: unknown) => {
    throw new AppError(call.response.destroyed ? "client_closed_request" : "upstream_stream_interrupted", { cause });
  });
  return undefined;
}

/** Undefined if the upstream no longer has the batch: then its results cannot be read. */
async function openLists({ response }: BatchCall, row: BatchRow, deps: BatchDeps): Promise<UpstreamAnswer | undefined> {
  const gone = new AbortController();
  response.once("close", () => gone.abort(new AppError("client_closed_request")));
  try {
    return await openResults(row, deps, gone.signal);
  } catch (error) {
    if (error instanceof BatchRefusal && error.upstreamError.status === 404) return undefined;
    throw toClientError(error, gone.signal);
  }
}
