import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "../lib/app-error.ts";
import { protocolHeaders } from "../relay/ingress/protocol-headers.ts";
import { unreachable } from "../relay/upstream/failure.ts";
import type { OpenAccount } from "./accounts.ts";
import { refuseBatch } from "./deposit.ts";
import type { SplicedBody } from "./inline/splice.ts";
import type { BatchProtocol, BatchState } from "./protocols/protocol.ts";
import { calculatePollPause } from "./schedule-poll.ts";
import { updateBatch } from "./store.ts";
import type { BatchDeps, BatchRow } from "./types.ts";
import { BatchRefusal } from "./upstream.ts";

interface Submission {
  readonly row: BatchRow;
  readonly account: OpenAccount;
  readonly protocol: BatchProtocol;
  readonly body: SplicedBody;
  readonly headers: IncomingHttpHeaders;
}

/** The call ends before the search for batches without an answer may begin. */
const SUBMIT_MS = 100_000;
/** Answers after which the upstream may have taken the batch all the same. */
const UNCERTAIN: ReadonlySet<number> = new Set([500, 502, 504, 520, 522, 524]);
/** Errors of connections over which nothing was sent. */
const UNSENT: ReadonlySet<string> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"]);

/**
 * Sends a batch to its upstream, once: after an answer that never came, the batch stays `creating`, and a job finds out
 * whether the upstream has it.
 */
export async function submitBatch(submission: Submission, deps: BatchDeps): Promise<BatchRow> {
  const { row, account, protocol, body, headers } = submission;
  if (!(await isStillCreating(row, deps))) throw new AppError("request_timeout");
  const clientHeaders = { ...protocolHeaders(headers, () => "") };
  delete clientHeaders["idempotency-key"];
  const request = {
    ...protocol.paths(account.support).create(row),
    body: { stream: body.open(), size: body.size },
    clientHeaders,
    timeoutMs: SUBMIT_MS,
  };
  let state: BatchState | undefined;
  try {
    state = protocol.readState((await deps.upstream.json(account, request)).json);
  } catch (error) {
    throw await endFailedSubmission(row, error, deps);
  }
  if (state) return openBatch(row, state, deps);
  throw new AppError("upstream_invalid_response");
}

/** A process that was paused after its deposit must not send what was given up meanwhile. */
function isStillCreating(row: BatchRow, deps: BatchDeps): Promise<boolean> {
  return updateBatch(deps, row.id, ["creating"], { next_poll_at: row.next_poll_at });
}

/** Stores that the upstream has the batch. */
export async function openBatch(
  row: BatchRow,
  state: BatchState,
  deps: Pick<BatchDeps, "database" | "clock" | "random">,
): Promise<BatchRow> {
  const now = deps.clock.now();
  const patch = {
    phase: "open" as const,
    upstream_id: state.upstreamId,
    wire: JSON.stringify(state.wire),
    created_at: state.createdAt || row.created_at,
    expires_at: state.expiresAt,
    error: "",
    failures: 0,
    next_poll_at: now + calculatePollPause(row, 0, { now, random: deps.random() }),
  };
  const isOpened = await updateBatch(deps, row.id, ["creating"], patch);
  return isOpened ? { ...row, ...patch } : row;
}

/** Returns the client's error; the deposit is returned if the upstream certainly has no batch. */
async function endFailedSubmission(row: BatchRow, error: unknown, deps: BatchDeps): Promise<AppError> {
  if (error instanceof BatchRefusal) {
    if (!UNCERTAIN.has(error.upstreamError.status)) await refuseBatch(row, "upstream_refused", deps);
    return error.error;
  }
  if (isUnsent(error)) await refuseBatch(row, "upstream_unreachable", deps);
  deps.log.warn("a batch could not be submitted", { batch: row.id, channel: row.channel_id, error });
  return unreachable(error instanceof Error ? error : new Error(String(error))).error;
}

function isUnsent(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && UNSENT.has(code);
}
