import { hasChannel } from "./accounts.ts";
import { LONGEST_PAUSE_MS } from "./schedule-poll.ts";
import { updateBatch, type BatchPatch } from "./store.ts";
import type { BatchDeps, BatchRow } from "./types.ts";

type LostDeps = Pick<BatchDeps, "database" | "clock" | "log" | "snapshots">;

const HOUR_MS = 3_600_000;
/** Vendors end a batch after a day, or two. */
const USUAL_LIFE_MS = 24 * HOUR_MS;
/** No job reads the row again; a person decides. */
export const NEVER = Number.MAX_SAFE_INTEGER;

/** Without its channel, what a batch used can no longer be read: its deposit remains until a person abandons it. */
export async function markLost(row: BatchRow, deps: LostDeps): Promise<void> {
  deps.log.error("the channel of a batch was deleted: a person has to abandon the batch", {
    batch: row.id,
    channel: row.channel_id,
  });
  const patch: BatchPatch = { phase: "stuck", error: "channel_deleted", next_poll_at: NEVER };
  await updateBatch(deps, row.id, ["creating", "open", "ended", "stuck"], patch);
}

/** Notes that nothing can be asked about an open batch now: its channel or its key was deleted. */
export async function noteLostAccount(row: BatchRow, deps: LostDeps): Promise<void> {
  if (!(await hasChannel(row.channel_id, deps))) return markLost(row, deps);
  deps.log.error("the key of a batch was deleted", { batch: row.id, channel: row.channel_id });
  const next_poll_at = deps.clock.now() + LONGEST_PAUSE_MS;
  await updateBatch(deps, row.id, ["open"], { error: "key_lost", next_poll_at, ...buildGiveUp(row, deps) });
}

/** Asks about a batch again whose end was never seen: it may run still, or its upstream may never have had it. */
export async function followAgain(row: BatchRow, deps: Pick<LostDeps, "database" | "clock">): Promise<void> {
  const phase = row.upstream_id === "" ? "creating" : "open";
  await updateBatch(deps, row.id, [row.phase], { phase, failures: 0, next_poll_at: deps.clock.now() });
}

/** An open batch that could not be asked about for BatchGiveUpHours after its latest end waits for a person. */
export function buildGiveUp(row: BatchRow, { clock, snapshots, log }: LostDeps): BatchPatch {
  const giveUpMs = snapshots.current().options.BatchGiveUpHours * HOUR_MS;
  const latestEnd = Math.max(row.expires_at * 1000, row.created_at * 1000 + USUAL_LIFE_MS);
  if (clock.now() - latestEnd <= giveUpMs) return {};
  log.error("a batch waits for a person: its upstream does not tell its state", { batch: row.id });
  return { phase: "stuck", next_poll_at: NEVER };
}
