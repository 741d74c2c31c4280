import type { BatchOutcome } from "@fairway/wire";
import type { EventTypeName } from "../events/catalogue.ts";
import { recordRawEvent } from "../events/record-event.ts";
import { object, text } from "../dialects/core/read.ts";
import { parseObject, type JsonObject } from "../lib/text/json.ts";
import type { RawTransaction } from "../storage/engines/raw.ts";
import type { BatchSums } from "./results/sums.ts";
import type { BatchDeps, BatchRow } from "./types.ts";

type EndCounts = Pick<BatchSums, "succeeded" | "failed" | "expired" | "cancelled" | "quota">;

interface BatchEnd {
  readonly row: BatchRow;
  readonly counts: EndCounts;
  readonly type: EventTypeName;
}

/** Writes the event of a batch's end in the transaction that closes its deposit. */
export async function recordBatchEnd(
  tx: RawTransaction,
  { row, counts, type }: BatchEnd,
  { database, clock }: Pick<BatchDeps, "database" | "clock">,
): Promise<void> {
  const [team] = await tx.rows<{ id: number }>("select id from teams where account_id = ?", [row.user_id]);
  const { succeeded, failed, expired, cancelled, quota } = counts;
  await recordRawEvent(tx, database.kind, {
    type,
    atMs: clock.now(),
    accountId: row.user_id,
    ...(team ? { teamId: team.id } : { userId: row.user_id }),
    dedupKey: `batch.ended:${row.id}`,
    data: { id: row.id, total: row.total, succeeded, failed, expired, cancelled, quota },
  });
}

const END_TYPES = new Map<unknown, EventTypeName>([
  ["failed", "batch.failed"],
  ["expired", "batch.expired"],
  ["cancelled", "batch.cancelled"],
]);

/** Returns the event for the state in which the upstream ended a batch. */
export function findEndType({ wire }: Pick<BatchRow, "wire">): EventTypeName {
  const state = parseObject(wire) as JsonObject | undefined;
  // Google's states are in the operation's metadata, in capitals with a prefix.
  const named = text(object(state, "metadata"), "state")
    ?.replace(/^[A-Z]+_STATE_/, "")
    .toLowerCase();
  return END_TYPES.get(named ?? state?.["status"]) ?? "batch.completed";
}

/** Returns how a batch ended, for people. */
export function findOutcome(row: BatchRow): BatchOutcome {
  if (row.phase === "refused" || row.error === ABANDONED) return "failed";
  if (row.phase !== "ended" && row.phase !== "settled") return "";
  if (row.expired > 0) return "expired";
  if (row.cancelled > 0) return "cancelled";
  return OUTCOMES[findEndType(row)] ?? "completed";
}

const OUTCOMES: Readonly<Partial<Record<EventTypeName, BatchOutcome>>> = {
  "batch.failed": "failed",
  "batch.expired": "expired",
  "batch.cancelled": "cancelled",
};

/** `error` of a batch that a person has ended without a charge. */
export const ABANDONED = "abandoned";
