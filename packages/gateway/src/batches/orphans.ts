import { findAccount, hasChannel } from "./accounts.ts";
import { refuseBatch } from "./deposit.ts";
import { markLost } from "./lost.ts";
import { requireProtocol } from "./protocols/index.ts";
import type { BatchState } from "./protocols/protocol.ts";
import { findDueBatches, updateBatch } from "./store.ts";
import { openBatch } from "./submit.ts";
import type { BatchDeps, BatchRow } from "./types.ts";

type OrphanDeps = Pick<
  BatchDeps,
  "database" | "ledger" | "snapshots" | "upstream" | "clock" | "log" | "hashKey" | "random"
>;

/** A batch without an answer is searched for after this time; its submission has a shorter time limit. */
export const ORPHAN_AFTER_MS = 120_000;
const GIVE_UP_AFTER_MS = 900_000;
const SEARCH_EVERY_MS = 60_000;
const LIST_TIMEOUT_MS = 30_000;
const MAX_ORPHANS = 50;
/** The list must have been read this often without finding the batch. */
const MIN_CLEAN_LISTS = 2;

/** Looks for batches whose creation has no known end: the upstream has them, or the deposit is returned. */
export async function searchOrphans(deps: OrphanDeps, signal?: AbortSignal): Promise<void> {
  for (const row of await findDueBatches(deps, "creating", deps.clock.now(), MAX_ORPHANS)) {
    if (signal?.aborted) return;
    await searchOrphan(row, deps).catch((error: unknown) =>
      deps.log.warn("a batch without an answer could not be searched for", { batch: row.id, error }),
    );
  }
}

async function searchOrphan(row: BatchRow, deps: OrphanDeps): Promise<void> {
  if (!(await hasDeposit(row, deps))) return void (await refuseBatch(row, "no_deposit", deps));
  const found = await findUpstream(row, deps);
  if (found === "unknown")
    return (await hasChannel(row.channel_id, deps)) ? postpone(row, row.failures, deps) : markLost(row, deps);
  if (found) {
    deps.log.info("a batch without an answer was found at its upstream", { batch: row.id });
    return void (await openBatch(row, found, deps));
  }
  const cleanLists = row.failures + 1;
  const isOld = deps.clock.now() - row.created_at * 1000 > GIVE_UP_AFTER_MS;
  if (!isOld || cleanLists < MIN_CLEAN_LISTS) return postpone(row, cleanLists, deps);
  deps.log.warn("an upstream does not have a batch that was sent to it", { batch: row.id });
  await refuseBatch(row, "not_at_upstream", deps);
}

async function hasDeposit(row: BatchRow, { database }: OrphanDeps): Promise<boolean> {
  const sql = "select 1 as one from ledger where request_id = ? and kind = 'deposit'";
  return (await database.raw.rows(sql, [row.request_id])).length > 0;
}

/** `failures` counts the lists that did not have the batch. */
async function postpone(row: BatchRow, failures: number, deps: OrphanDeps): Promise<void> {
  await updateBatch(deps, row.id, ["creating"], { failures, next_poll_at: deps.clock.now() + SEARCH_EVERY_MS });
}

/** Returns the batch at the upstream; `unknown` if it cannot be asked now. */
async function findUpstream(row: BatchRow, deps: OrphanDeps): Promise<BatchState | "unknown" | undefined> {
  const account = findAccount(row, deps);
  if (!account) return "unknown";
  const protocol = requireProtocol(row.dialect);
  const path = protocol.paths(account.support).list();
  const { json } = await deps.upstream.json(account, { ...path, timeoutMs: LIST_TIMEOUT_MS });
  const fitting = protocol.readList(json).filter((listed) => protocol.fitsRow(listed, row));
  const states = fitting.flatMap((listed) => protocol.readState(listed) ?? []);
  const taken = await findTaken(states, row.channel_id, deps);
  const [state, other] = states.filter(({ upstreamId }) => !taken.has(upstreamId));
  // Two equal batches look the same.
  return other ? "unknown" : state;
}

async function findTaken(
  states: readonly BatchState[],
  channelId: number,
  { database }: OrphanDeps,
): Promise<ReadonlySet<string>> {
  if (states.length === 0) return new Set();
  const ids = states.map(({ upstreamId }) => upstreamId);
  const rows = await database.db
    .selectFrom("batches")
    .select("upstream_id")
    .where("channel_id", "=", channelId)
    .where("upstream_id", "in", ids)
    .execute();
  return new Set(rows.map(({ upstream_id }) => upstream_id));
}
