import { findAccount } from "./accounts.ts";
import { applyState } from "./poll.ts";
import { requireProtocol } from "./protocols/index.ts";
import { toClientError } from "./results.ts";
import { updateBatch } from "./store.ts";
import type { BatchDeps, BatchRow } from "./types.ts";
import { AppError } from "../lib/app-error.ts";
import { seconds } from "../lib/clock.ts";

type CancelDeps = Pick<BatchDeps, "database" | "library" | "snapshots" | "upstream" | "clock" | "hashKey">;

const CALL_TIMEOUT_MS = 30_000;

/** Asks the upstream to end a batch early; it stays open until the upstream has. Throws the client's error. */
export async function cancelBatch(row: BatchRow, deps: CancelDeps): Promise<BatchRow> {
  if (row.phase !== "open") return row;
  const account = requireAccount(row, deps);
  const protocol = requireProtocol(row.dialect);
  const path = protocol.paths(account.support).cancel(row.upstream_id);
  const answer = await deps.upstream.json(account, { ...path, timeoutMs: CALL_TIMEOUT_MS }).catch((error: unknown) => {
    throw toClientError(error);
  });
  const state = protocol.readState(answer.json);
  return state ? applyState(row, state, deps) : row;
}

/** Hides a batch at once; the upstream's copy is removed after the settlement, which reads it. */
export async function deleteBatch(row: BatchRow, deps: CancelDeps): Promise<void> {
  if (row.phase === "open")
    throw new AppError("invalid_request", {
      values: { reason: "The batch has not ended: cancel it and wait for its end before you delete it." },
    });
  const isStuck = row.phase === "stuck";
  const patch = { deleted_at: seconds(deps.clock), ...(!isStuck && { next_poll_at: deps.clock.now() }) };
  await updateBatch(deps, row.id, ["ended", "settled", "stuck"], patch);
  // A job tries again what fails here, until the upstream's copy no longer exists.
  if (row.phase === "settled") await removeUpstream(row, deps).catch(() => undefined);
}

/** Removes the upstream's copy of a settled batch. */
export async function removeUpstream(row: BatchRow, deps: CancelDeps): Promise<void> {
  const account = findAccount(row, deps);
  if (!account) return;
  const path = requireProtocol(row.dialect).paths(account.support).remove(row.upstream_id);
  if (path) await deps.upstream.json(account, { ...path, timeoutMs: CALL_TIMEOUT_MS });
}

function requireAccount(row: BatchRow, deps: CancelDeps) {
  const account = findAccount(row, deps);
  if (account) return account;
  throw new AppError("unsupported_by_channel", { message: "The channel of the batch was deleted." });
}
