import type { RedisClient } from "../../../../redis/client.ts";
import type { RawDatabase } from "../../../../storage/engines/raw.ts";
import { quota } from "../../../money/quota.ts";
import type { Lease } from "../../../reservations/live-reservations.ts";
import { toHold } from "../../booking/reaped-charge.ts";
import type { Hold } from "../../ledger.ts";
import { adoptCall, buildShareId } from "../calls.ts";
import { adoptHolds, readOpen, type ShareRow } from "./share-rows.ts";

export interface AdoptionDeps {
  readonly redis: RedisClient;
  readonly database: RawDatabase;
  readonly lease: () => Lease;
}

const TIMEOUT_MS = 5_000;

/**
 * Extends the leases that open shares have in Redis and restores those that Redis lost. Reservations that were made in
 * the database while no replica had Redis become shares as well.
 */
export async function adoptShares({ redis, database, lease }: AdoptionDeps): Promise<void> {
  await adoptHolds(database);
  for (let after: string | undefined = ""; after !== undefined;) {
    const rows: ShareRow[] = await readOpen(database, after);
    const calls = rows.map((row) => adoptCall(redis.keys, toLiveHold(row), quota(row.granted), lease()));
    if (calls.length > 0) await redis.send(calls, TIMEOUT_MS);
    after = rows.at(-1)?.request_id;
  }
}

/** Returns the reservation of a share as Redis has it. */
export function toLiveHold(row: ShareRow): Hold {
  return toHold({ ...row, request_id: buildShareId(row.request_id), amount: Math.max(row.granted, 0) }, 0);
}
