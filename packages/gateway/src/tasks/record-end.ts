import { recordRawEvent } from "../events/record-event.ts";
import type { RawTransaction } from "../storage/engines/raw.ts";
import type { PollDeps } from "./types.ts";

/** What the event of a finished task says about it. */
export interface TaskEnd {
  readonly table: "midjourneys" | "tasks";
  /** The id that the client has. */
  readonly taskId: string;
  readonly action: string;
  /** Why it failed; "" if it succeeded. */
  readonly reason: string;
}

interface EndedRow {
  readonly id: number;
  readonly user_id: number;
  readonly quota: number;
}

const MAX_REASON = 500;

/** The reason of a failure for which the upstream names none. */
export const NO_REASON = "The upstream names no reason.";

/** Writes the event of a task's end in the transaction that writes its final state. */
export async function recordTaskEnd(
  tx: RawTransaction,
  row: EndedRow,
  { table, taskId, action, reason }: TaskEnd,
  { database, clock }: Pick<PollDeps, "database" | "clock">,
): Promise<void> {
  const [team] = await tx.rows<{ id: number }>("select id from teams where account_id = ?", [row.user_id]);
  const common = { id: taskId, action };
  await recordRawEvent(tx, database.kind, {
    type: reason === "" ? "task.succeeded" : "task.failed",
    atMs: clock.now(),
    accountId: row.user_id,
    ...(team ? { teamId: Number(team.id) } : { userId: row.user_id }),
    dedupKey: `task.ended:${table}:${row.id}`,
    // A failed task costs nothing.
    data:
      reason === "" ? { ...common, quota: row.quota } : { ...common, reason: reason.slice(0, MAX_REASON), quota: 0 },
  });
}
