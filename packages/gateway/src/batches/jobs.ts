import { seconds } from "../lib/clock.ts";
import { cancelBatch, removeUpstream } from "./cancel.ts";
import { searchOrphans } from "./orphans.ts";
import { LONGEST_PAUSE_MS } from "./schedule-poll.ts";
import { UNSETTLED, updateBatch } from "./store.ts";
import type { BatchDeps, BatchRow } from "./types.ts";
import { BatchRefusal } from "./upstream.ts";

const DAY_SECONDS = 86_400;
const MAX_ROWS = 100;
/** A deleted batch is removed at its upstream until the results expire there by themselves. */
const REMOVE_WITHIN_SECONDS = 29 * DAY_SECONDS;

/** Everything about batches that is neither polled nor settled: lost creations, deleted users, deleted and old rows. */
export async function tidyBatches(deps: BatchDeps, signal: AbortSignal): Promise<void> {
  await searchOrphans(deps, signal);
  await cancelOfDeletedUsers(deps, signal);
  await removeDeleted(deps, signal);
  await forgetOld(deps);
}

/** Open batches of users who may no longer spend end early; what has finished is paid by the deposit. */
async function cancelOfDeletedUsers(deps: BatchDeps, signal: AbortSignal): Promise<void> {
  const rows = await deps.database.db
    .selectFrom("batches")
    .leftJoin("users", "users.id", "batches.user_id")
    .selectAll("batches")
    .where("phase", "=", "open")
    .where("batches.error", "!=", "owner_gone")
    .where((row) =>
      row.or([row("users.id", "is", null), row("users.status", "!=", 1), row("users.deleted_at", "is not", null)]),
    )
    .limit(MAX_ROWS)
    .execute();
  await eachRow(rows, deps, signal, async (row) => {
    await cancelBatch(row, deps);
    await updateBatch(deps, row.id, ["open"], { error: "owner_gone" });
  });
}

async function removeDeleted(deps: BatchDeps, signal: AbortSignal): Promise<void> {
  const now = seconds(deps.clock);
  const rows = await deps.database.db
    .selectFrom("batches")
    .selectAll()
    .where("phase", "=", "settled")
    .where("deleted_at", ">", now - REMOVE_WITHIN_SECONDS)
    .where("next_poll_at", "<=", deps.clock.now())
    .where("error", "!=", "removed")
    .limit(MAX_ROWS)
    .execute();
  await eachRow(rows, deps, signal, async (row) => {
    await updateBatch(deps, row.id, ["settled"], { next_poll_at: deps.clock.now() + LONGEST_PAUSE_MS });
    await removeUpstream(row, deps).catch((error: unknown) => {
      if (!(error instanceof BatchRefusal) || error.upstreamError.status !== 404) throw error;
    });
    await updateBatch(deps, row.id, ["settled"], { error: "removed" });
  });
}

/** Forgets batches some time after their end, and the ids of items that no result will name any more. */
async function forgetOld({ database, snapshots, clock }: BatchDeps): Promise<void> {
  const before = seconds(clock) - snapshots.current().options.BatchKeepDays * DAY_SECONDS;
  await database.db
    .deleteFrom("batches")
    .where((row) =>
      row.or([
        row.and([row("phase", "=", "settled"), row("settled_at", "<", before)]),
        row.and([row("phase", "=", "refused"), row("created_at", "<", before)]),
      ]),
    )
    .execute();
  const needed = database.db.selectFrom("batches").select("id").where("phase", "in", UNSETTLED);
  await database.db.deleteFrom("batch_ids").where("batch_id", "not in", needed).execute();
}

/** A failure of one row does not keep the others waiting. */
async function eachRow(
  rows: readonly BatchRow[],
  { log }: BatchDeps,
  signal: AbortSignal,
  work: (row: BatchRow) => Promise<void>,
): Promise<void> {
  for (const row of rows) {
    if (signal.aborted) return;
    await work(row).catch((error: unknown) => log.warn("a batch could not be tidied up", { batch: row.id, error }));
  }
}
